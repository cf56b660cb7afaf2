#include "heed/task/language_model/language_model.h"

#include <algorithm>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/linear.h"

namespace heed::task {

namespace {

/// What each piece goes on from.
std::vector<const data::CarriedState*> before(const data::Batch& batch) {
  std::vector<const data::CarriedState*> all(static_cast<size_t>(batch.targets.size()), nullptr);
  if (!batch.carried) return all;
  for (size_t p = 0; p < all.size(); ++p) {
    const auto found = batch.begins[p] < 0 ? batch.carried->end() : batch.carried->find(batch.begins[p]);
    if (found != batch.carried->end()) all[p] = &found->second;
  }
  return all;
}

/// What each piece leaves for the next one of its text.
data::RecurrentCarry carried_on(const data::Batch& batch, std::vector<data::CarriedState>& after) {
  data::RecurrentCarry carried;
  for (size_t p = 0; p < after.size(); ++p)
    if (batch.ends[p] >= 0) carried[batch.ends[p]] = std::move(after[p]);
  return carried;
}

}  // namespace

WindowRule text_windows(const model::Options& o, int64_t stride) {
  if (!decode::find_text_decoder(o.decoder_kind()).reads_windows) {
    expect(stride == 0,
           "stride {} is for models that read a text in windows; this one, of kind \"{}\", reads all of it", stride,
           o.decoder_kind());
    return {.length = kLongestRead, .stride = kLongestRead, .piece = o.context};
  }
  expect(stride >= 0 && stride <= o.context, "stride: expected a number from 1 to {}, the context of the model, got {}",
         o.context, stride);
  return {.length = o.context, .stride = stride > 0 ? stride : (o.context + 1) / 2};
}

LanguageModel::LanguageModel(Parameters& parameters, const model::Options& o) : options_(o) {
  const attend::Census census;
  const model::Resolved words(o);
  expect(o.target_vocabulary > 0, "model: the vocabulary is empty");
  expect(o.width > 0 && o.decoder_layers > 0 && o.context > 0,
         "model: width {}, layers {} and context {} must be above 0", o.width, o.decoder_layers, o.context);
  const decode::TextDecoderEntry& entry = decode::find_text_decoder(o.decoder_kind());
  const Scope root(parameters);
  embed_ = embed::Embed(root / "text", model::embedding_options(o, words, o.target_vocabulary, entry.needs_positions));
  const bool looks_back = value_of(model::kLooksBack, o.look_back, "model: look_back");
  decoder_ =
      entry.make(root / "decoder", {.stack = model::stack_options(o, words, o.decoder_layers, entry.needs_positions),
                                    .context = o.context,
                                    .looks_back = looks_back});
  longest_memory_ = census.longest_memory();
  for (const attend::Made& made : census.all())  // all of a model or none
    by_document_ = attend::resolve(made.options).has_region(attend::documents_entry);
  const bool tied = words.tied != model::Tied::none;
  expect(!tied || decoder_->width() == o.width,
         "model: tied = \"{}\" needs states of the width of the vectors, {}, but they have {}: set tied = \"none\"",
         o.tied, o.width, decoder_->width());
  const Scope output = root / "output";
  output_weight_ = tied
                       ? embed_.table()
                       : &output.make_weight("weight", {o.target_vocabulary, decoder_->width()}, Initialiser::xavier());
  output_bias_ = &output.make("bias", {o.target_vocabulary}, Initialiser::constant(0.0f));
  generator_ = generator_with(0);
}

Tensor LanguageModel::states(Tape& tape, const data::Batch& batch, std::vector<data::CarriedState>* after) const {
  const data::Targets& text = batch.targets;
  expect(batch.sources.size() == 0 && std::ssize(batch.begins) == text.size(),
         "model: expected a batch of pieces of text");
  const std::vector<const data::CarriedState*> from = before(batch);
  decode::Pieces pieces{.before = from, .carries_all = batch.carries_all};
  if (batch.carried && decoder_->carries()) pieces.after = after;
  if (by_document_) {
    auto* documents = tape.keep<int32_t>(text.offsets.back());
    for (int64_t p = 0; p < text.size(); ++p)
      std::fill_n(documents + text.offsets[static_cast<size_t>(p)], text.length(p), static_cast<int32_t>(p));
    pieces.documents = documents;
  }
  const Offsets sequences = tape.offsets(by_document_ ? batch.prediction_offsets() : text.offsets);
  return decoder_->run(embed_(tape, text.in, sequences), pieces);
}

model::Loss LanguageModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  std::vector<data::CarriedState> after;
  const Tensor out = states(tape, batch, &after);
  model::Loss loss =
      output_loss(out, tape.parameter(*output_weight_), tape.parameter(*output_bias_), batch.targets.out, options);
  loss.carried = carried_on(batch, after);
  return loss;
}

int64_t LanguageModel::max_positions() const { return std::min(embed_.max_positions(), longest_memory_); }

void LanguageModel::teacher_forced_logits(Tape& tape, const data::Batch& batch,
                                          const std::function<void(int64_t first, Tensor logits)>& visit) const {
  constexpr int64_t kRows = 256;  // whose logits exist at once, as in output_loss()
  const Tensor all = states(tape, batch, nullptr);
  for (int64_t first = 0; first < all.rows(); first += kRows) {
    const Tensor rows = tape.input(all.row(first), std::min(kRows, all.rows() - first), all.cols());
    tape.only_result([&] {
      visit(first, linear(rows, tape.parameter(*output_weight_), tape.parameter(*output_bias_)));
      return rows;
    });
  }
}

TextGenerator LanguageModel::generator_with(int64_t stride) const {
  return {{.embed = &embed_, .decoder = decoder_.get(), .weight = output_weight_, .bias = output_bias_},
          text_windows(options_, stride)};
}

}  // namespace heed::task
