#include "heed/model/parallel_model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/model/blanks.h"
#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/model/stack_options.h"
#include "heed/model/target_decoder.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/cross_entropy.h"

namespace heed::model {

namespace {

/// What a loss of its own comes with is about steps, each of which knows the one before.
void check_attention(const std::vector<attend::Made>& all, int64_t slots) {
  for (const attend::Made& made : all) {
    const attend::Options& attention = made.options;
    expect(!attend::draws(attention),
           "model: normalise = \"{}\" is rewarded for what each step leads to, but decoder = \"parallel\" has no steps",
           attention.normalise);
    // The diagonal ends where the target does, and among slots nobody knows where.
    expect(slots == 0 || !attend::resolve(attention).time->guides,
           "model: time = \"{}\" needs to know how long a target is, which a model of length = \"slots\" does not: use "
           "length = \"classifier\"",
           attention.time);
  }
}

/// The rows of the memory for each draft.
encode::Encoded memory_for(Tape& tape, const ReadSources& sources, const Drafts& drafts) {
  const auto count = std::ssize(drafts.source);
  bool each_one = count + 1 == std::ssize(sources.offsets);
  for (int64_t d = 0; each_one && d < count; ++d) each_one = drafts.source[static_cast<size_t>(d)] == d;
  std::vector<int64_t> rows, offsets = {0};
  for (const int64_t source : drafts.source) {
    const auto at = static_cast<size_t>(source);
    for (int64_t row = sources.offsets[at]; row < sources.offsets[at + 1]; ++row) rows.push_back(row);
    offsets.push_back(std::ssize(rows));
  }
  const auto of_drafts = [&](const OffTapeMatrix& read) {
    return each_one ? read.on(tape) : gather_rows(read.on(tape), rows);
  };
  encode::Encoded source{{of_drafts(sources.memory), tape.offsets(offsets)}};
  for (const OffTapeMatrix& block : sources.blocks) source.blocks.push_back(of_drafts(block));
  return source;
}

}  // namespace

ParallelModel::ParallelModel(Parameters& parameters, const Options& o)
    : options_(o), slots_(value_of(kOutputLengths, o.length, "model: length") == OutputLength::slots ? o.slots : 0) {
  const attend::Census census;
  const Resolved words(o);
  check_sizes(o);
  const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
  const decode::DecoderEntry& decoder = decode::find_decoder(o.decoder_kind());
  expect(decoder.make_parallel != nullptr, "model: decoder = \"{}\" does not write all positions at once",
         decoder.name);
  const Scope root(parameters);
  source_ = embed::Embed(root / "source", embedding_options(o, words, o.source_vocabulary, encoder.needs_positions));
  embed::Options target = embedding_options(o, words, o.target_vocabulary, decoder.needs_positions);
  target.blank = true;
  if (target.positions == "none") target.positions = "sinusoidal";  // nothing else tells one blank from another
  target_ = embed::Embed(root / "target", target, words.tied == Tied::all ? source_.table() : nullptr);
  encoder_ = encoder.make(root / "encoder", stack_options(o, words, o.encoder_layers, encoder.needs_positions));
  decoder_ = decoder.make_parallel(root / "decoder", stack_options(o, words, o.decoder_layers, decoder.needs_positions),
                                   *encoder_);
  check_attention(census.all(), slots_);
  guided_ = guided_of(census.at(encode::kSourcePlace));
  longest_memory_ = census.longest_memory();
  output_ = OutputLayer(root, o, decoder_->width(), target_.table());
  if (slots_ == 0) length_ = LengthClassifier(root / "length", encoder_->width(), o.max_length);
}

encode::Encoded ParallelModel::encode(Tape& tape, const data::Sources& sources) const {
  return encoder_->run(source_(tape, sources.tokens.values(), tape.offsets(sources.tokens.offsets())));
}

int64_t ParallelModel::max_positions() const {
  return std::min({source_.max_positions(), target_.max_positions(), longest_memory_});
}

int64_t ParallelModel::max_predictions() const {
  return std::min(max_positions(), slots_ > 0 ? slots_ : options_.max_length);
}

// ---------------------------------------------------------------------------------------------------------------- loss

Loss ParallelModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  expect(options.row_weights.empty(), "model: decoder = \"parallel\" has no weights of rows");
  const encode::Encoded source = encode(tape, batch.sources);
  const data::Targets& target = batch.targets;
  expect(target.size() == batch.sources.size() && target.in.size() == target.out.size(),
         "model: expected a batch of sources, each with a target to write");
  const BlankedTargets blanked =
      leave_blanks(target, slots_, tape.training() ? std::optional(tape.next_seed()) : std::nullopt);
  const auto predictions = std::ssize(target.out), sentences = std::ssize(target.offsets) - 1;
  float* row_nll = tape.keep<float>(predictions);
  std::fill_n(row_nll, predictions, 0.0f);

  OutputLoss loss{.loss = tape.filled(1, 1, 0.0f)};
  if (!blanked.asked.empty()) {
    const Packed x = target_(tape, blanked.tokens, tape.offsets(blanked.offsets));
    decode::AttentionCosts costs;
    const Tensor states =
        gather_rows(decoder_->run(x, source, nullptr, tape.training() ? &costs : nullptr), blanked.asked);
    // The blank ones stand for all.
    const double all = static_cast<double>(slots_ > 0 ? predictions : predictions - sentences);
    const double share = all / static_cast<double>(blanked.asked.size());
    OutputLossOptions scaled = options;
    scaled.scale *= static_cast<float>(share);
    loss = output_.loss(states, blanked.answers, scaled);
    for (size_t i = 0; i < blanked.asked.size(); ++i) row_nll[blanked.predictions[i]] = loss.row_nll[i];
    loss.negative_log_likelihood *= share;
    loss.correct = std::llround(static_cast<double>(loss.correct) * share);
    if (const Tensor guide = guided_ ? guide_cost(costs.guide, *guided_, batch.updates_before) : Tensor())
      loss.loss = add(loss.loss, scale(guide, options.scale));
  }
  loss.row_nll = {row_nll, static_cast<size_t>(predictions)};
  loss.rows = predictions;
  if (slots_ == 0) add_lengths(loss, row_nll, source, target, options.scale);
  return loss;
}

void ParallelModel::add_lengths(OutputLoss& loss, float* row_nll, const encode::Encoded& source,
                                const data::Targets& target, float share) const {
  const Tensor logits = length_.logits(source.memory);
  const std::vector<std::vector<double>> log_probabilities = LengthClassifier::log_probabilities(logits);
  std::vector<int32_t> lengths;
  for (size_t b = 0; b < log_probabilities.size(); ++b) {
    const int64_t end = target.offsets[b + 1] - 1, length = end - target.offsets[b];
    expect(length < options_.max_length, ErrorKind::data,
           "a target of {} tokens and its end do not fit into model.max_length = {}: increase it", length,
           options_.max_length);
    lengths.push_back(static_cast<int32_t>(length));
    const std::vector<double>& found = log_probabilities[b];
    const double right = found[static_cast<size_t>(length)];
    row_nll[end] = static_cast<float>(-right);
    loss.negative_log_likelihood -= right;
    if (right >= *std::max_element(found.begin(), found.end())) ++loss.correct;
  }
  loss.loss = add(loss.loss, scale(cross_entropy(logits, lengths), share));
}

// -------------------------------------------------------------------------------------------------------- for a search

ReadSources ParallelModel::read(Tape& tape, const data::Sources& sources) const {
  const encode::Encoded encoded = encode(tape, sources);
  return {.memory = OffTapeMatrix(encoded.memory.rows),
          .blocks = {encoded.blocks.begin(), encoded.blocks.end()},
          .offsets = {sources.tokens.offsets().begin(), sources.tokens.offsets().end()},
          .lengths = slots_ > 0 ? std::vector<std::vector<double>>()
                                : LengthClassifier::log_probabilities(length_.logits(encoded.memory))};
}

Tensor ParallelModel::write(Tape& tape, const ReadSources& sources, const Drafts& drafts,
                            decode::Alignment* alignment) const {
  const Packed x = target_(tape, drafts.tokens, tape.offsets(drafts.offsets));
  const Tensor states = decoder_->run(x, memory_for(tape, sources, drafts), alignment);
  return output_.logits(drafts.asked.size() == drafts.tokens.size() ? states : gather_rows(states, drafts.asked));
}

}  // namespace heed::model
