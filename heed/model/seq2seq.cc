#include "heed/model/seq2seq.h"

#include <algorithm>
#include <numeric>

#include "heed/attend/all.h"
#include "heed/attend/reinforce.h"
#include "heed/data/packed_pairs.h"
#include "heed/decode/all.h"
#include "heed/encode/all.h"
#include "heed/encode/choices.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/linear.h"
#include "heed/tensor/op/reduce.h"

namespace heed::model {

namespace {

void check(const Options& o, const Resolved& words) {
  expect(o.source_vocabulary > 0 && o.target_vocabulary > 0,
         "model: both vocabularies need tokens; they have {} and {}", o.source_vocabulary, o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.decoder_layers > 0,
         "model: width {}, encoder_layers {} and decoder_layers {} must be above 0", o.width, o.encoder_layers,
         o.decoder_layers);
  expect(words.tied != Tied::all || o.source_vocabulary == o.target_vocabulary,
         "model: tied = \"all\" needs one vocabulary for both sides, not {} and {} tokens", o.source_vocabulary,
         o.target_vocabulary);
}

/// The reward of each of `choices`: one per target token, or (static attention) one per sequence, for all its tokens.
std::vector<float> rewards(int64_t choices, const Seq2SeqBatch& batch, const OutputLoss& loss) {
  std::vector<float> of_tokens, of_sequences;
  for (const float nll : loss.row_nll) of_tokens.push_back(-nll);
  if (choices == static_cast<int64_t>(of_tokens.size())) return of_tokens;
  for (size_t b = 0; b + 1 < batch.target_offsets.size(); ++b)
    of_sequences.push_back(std::accumulate(of_tokens.begin() + batch.target_offsets[b],
                                           of_tokens.begin() + batch.target_offsets[b + 1], 0.0f));
  return of_sequences;
}

Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : concat_rows(parts);
}

}  // namespace

Seq2Seq::Seq2Seq(Parameters& parameters, const Options& o) : options_(o) {
  const Resolved words(o);
  check(o, words);
  const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
  const decode::DecoderEntry& decoder = decode::find_decoder(o.decoder_kind());
  const bool source_positions = encoder.needs_positions, target_positions = decoder.needs_positions;
  const Scope root(parameters);
  source_ = embed::Embed(root / "source", embedding_options(o, words, o.source_vocabulary, source_positions));
  target_ = embed::Embed(root / "target", embedding_options(o, words, o.target_vocabulary, target_positions),
                         words.tied == Tied::all ? source_.table() : nullptr);
  encoder_ = encoder.make(root / "encoder", stack_options(o, words, o.encoder_layers, source_positions));
  decoder_ = decoder.make(root / "decoder", stack_options(o, words, o.decoder_layers, target_positions), *encoder_);
  const Scope output = root / "output";
  output_weight_ = words.tied == Tied::none
                       ? &output.make("weight", {o.target_vocabulary, decoder_->width()}, Initialiser::xavier())
                       : target_.table();
  output_bias_ = &output.make("bias", {o.target_vocabulary}, Initialiser::constant(0.0f));
  if (attend::draws(o.attention)) {
    baseline_ = &(root / "reinforce").make("baseline", {2}, Initialiser::constant(0.0f));
    baseline_->trainable = false;
  }
}

encode::Encoded Seq2Seq::encode(Tape& tape, const PackedIds& sources) const {
  return encoder_->run(source_(tape, sources.ids, tape.offsets(sources.offsets)));
}

OutputLoss Seq2Seq::loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const {
  const auto* pairs = dynamic_cast<const data::PackedPairs*>(&batch);
  expect(pairs != nullptr, "model: expected a batch of pairs, each with a source and a target");
  return loss(
      tape,
      Seq2SeqBatch{pairs->source, pairs->source_offsets, pairs->target_in, pairs->target_out, pairs->target_offsets},
      options);
}

OutputLoss Seq2Seq::loss(Tape& tape, const Seq2SeqBatch& batch, const OutputLossOptions& options) const {
  const encode::Encoded source = encode(tape, {batch.source, batch.source_offsets});
  const Packed target = target_(tape, batch.target_in, tape.offsets(batch.target_offsets));
  decode::AttentionCosts costs;
  costs.want_entropy = options_.attention.entropy_weight > 0.0f;
  const Tensor states = decoder_->run(target, source, nullptr, tape.training() ? &costs : nullptr);
  OutputLoss loss =
      output_loss(states, tape.parameter(*output_weight_), tape.parameter(*output_bias_), batch.target_out, options);
  if (const Tensor more = attention_costs(costs, batch, loss)) loss.loss = add(loss.loss, scale(more, options.scale));
  return loss;
}

Tensor Seq2Seq::attention_costs(const decode::AttentionCosts& costs, const Seq2SeqBatch& batch,
                                const OutputLoss& loss) const {
  Tensor all;
  const auto also = [&](Tensor cost) { all = all ? add(all, cost) : cost; };
  // Tachibana et al. 2018: the mean of heads and layers, added up over the rows as the loss is.
  for (const Tensor guide : costs.guide)
    also(scale(sum(guide), options_.attention.guide_weight /
                               static_cast<float>(guide.rows() * static_cast<int64_t>(costs.guide.size()))));
  // Williams 1992: a choice is worth the log-probability of the token that it led to. Added up over the rows.
  if (const Tensor log_prob = joined(costs.log_prob)) {
    const attend::Options& o = options_.attention;
    attend::Reinforce reinforce({.baseline_decay = o.baseline_decay, .entropy_weight = o.entropy_weight});
    float* state = baseline_->value.data();
    reinforce.restore(state[0], state[1] != 0.0f);
    const std::vector<float> worth = rewards(log_prob.cols(), batch, loss);
    also(scale(reinforce.loss(log_prob, worth, joined(costs.entropy)), static_cast<float>(log_prob.cols())));
    state[0] = reinforce.baseline();
    state[1] = reinforce.started() ? 1.0f : 0.0f;
  }
  return all;
}

std::unique_ptr<decode::State> Seq2Seq::start(Tape& tape, const PackedIds& sources, int64_t longest) const {
  return decoder_->start(encode(tape, sources), longest);
}

int64_t Seq2Seq::max_positions() const {
  return std::min({source_.max_positions(), target_.max_positions(), attend::longest_memory(options_.attention)});
}

Tensor Seq2Seq::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                     decode::Alignment* alignment) const {
  const auto count = static_cast<int64_t>(tokens.size());
  const Packed x = target_(tape, tokens, tape.even_offsets(count, 1), state.step());
  const Tensor out = decoder_->step(x.rows, state, alignment);
  return linear(out, tape.parameter(*output_weight_), tape.parameter(*output_bias_));
}

}  // namespace heed::model
