#include "heed/task/speech/speech_model.h"

#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/ctc_loss.h"
#include "heed/tensor/op/dropout.h"
#include "heed/text/tokens.h"

namespace heed::task {

SpeechModel::SpeechModel(Parameters& parameters, const model::Options& o) : options_(o) {
  expect(o.target_vocabulary > 0, "model: the vocabulary of the words needs tokens; it has {}", o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.decoder_layers > 0,
         "model: width {}, encoder_layers {} and decoder_layers {} must be above 0", o.width, o.encoder_layers,
         o.decoder_layers);
  const model::Resolved words(o);
  const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
  expect(!encoder.needs_positions || words.positions != model::Positions::learned,
         "model: learned positions are for tokens; recordings need sinusoidal, rotary or alibi");
  sinusoids_ = encoder.needs_positions && words.positions == model::Positions::sinusoidal;
  const Scope root(parameters);
  frames_ = FrameConvolution(root / "frames", speech_options(o), o.width);
  encoder_ = encoder.make(root / "encoder", model::stack_options(o, words, o.encoder_layers, encoder.needs_positions));
  writer_ = model::TargetDecoder(root, o, *encoder_, model::TargetDecoder::vectors(root, o));
  if (speech_options(o).ctc > 0) ctc_ = Linear(root / "ctc", encoder_->width(), o.target_vocabulary);
}

encode::Encoded SpeechModel::encode(Tape& tape, const data::Sources& sources) const {
  Packed rows = frames_.run(tape, sources.numbers);
  if (sinusoids_) rows.rows = add(rows.rows, embed::sinusoids_of(tape, rows.offsets, options_.width));
  rows.rows = dropout(rows.rows, options_.dropout);
  return encoder_->run(rows);
}

model::Loss SpeechModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const model::SelfCriticalBaseline undrawn(writer_.needs_self_critical_baseline(tape),
                                            [&](Tape& plain) { return loss(plain, batch, {}); });
  const encode::Encoded heard = encode(tape, batch.sources);
  model::Loss loss = writer_.loss(heard, batch, options, undrawn.row_nll());
  if (const float weight = speech_options(options_).ctc; weight > 0 && tape.training())
    loss.loss = add(loss.loss, ctc_cost(heard, batch.targets, weight * options.scale));
  return loss;
}

/// A row of memory says a token or nothing, for which <s> stands, as no target has it.
Tensor SpeechModel::ctc_cost(const encode::Encoded& heard, const data::Targets& targets, float scale) const {
  std::vector<int32_t> ids;
  std::vector<int64_t> at = {0};
  for (int64_t b = 0; b < targets.size(); ++b) {
    const auto first = targets.out.begin() + targets.offsets[static_cast<size_t>(b)];
    ids.insert(ids.end(), first, first + targets.length(b) - 1);  // without </s>
    at.push_back(std::ssize(ids));
  }
  const Tensor logits = ctc_(heard.memory.rows);
  return ctc_loss(logits, heard.memory.offsets, {at, ids, text::kStart}, scale).loss;
}

std::unique_ptr<decode::State> SpeechModel::start(Tape& tape, const data::Sources& sources, int64_t longest) const {
  return writer_.start(encode(tape, sources), sources, longest);
}

void SpeechModel::each_logits(Tape& tape, const data::Sources& sources, const model::PackedIds& inputs,
                              const std::function<void(int64_t first, Tensor logits)>& visit) const {
  writer_.each_logits(encode(tape, sources), sources, inputs, visit);
}

int64_t SpeechModel::memory_rows(const data::Sources& sources, int64_t b) const {
  const SpeechOptions& o = speech_options(options_);
  return rows_of_frames(sources.numbers.length(b) / o.bands, o.convolutions);
}

}  // namespace heed::task
