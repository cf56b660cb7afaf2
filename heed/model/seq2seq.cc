#include "heed/model/seq2seq.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/stack_options.h"

namespace heed::model {

void check_sizes(const Options& o) {
  expect(o.source_vocabulary > 0 && o.target_vocabulary > 0,
         "model: both vocabularies need tokens; they have {} and {}", o.source_vocabulary, o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.decoder_layers > 0,
         "model: width {}, encoder_layers {} and decoder_layers {} must be above 0", o.width, o.encoder_layers,
         o.decoder_layers);
  expect(Resolved(o).tied != Tied::all || o.source_vocabulary == o.target_vocabulary,
         "model: tied = \"all\" needs one vocabulary for both sides, not {} and {} tokens", o.source_vocabulary,
         o.target_vocabulary);
}

Seq2Seq::Seq2Seq(Parameters& parameters, const Options& o) : options_(o) {
  const Resolved words(o);
  check_sizes(o);
  const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
  const Scope root(parameters);
  source_ = embed::Embed(root / "source", embedding_options(o, words, o.source_vocabulary, encoder.needs_positions));
  const embed::Embed target = TargetDecoder::vectors(root, o, words.tied == Tied::all ? source_.table() : nullptr);
  encoder_ = encoder.make(root / "encoder", stack_options(o, words, o.encoder_layers, encoder.needs_positions));
  target_decoder_ = TargetDecoder(root, o, *encoder_, target);
}

encode::Encoded Seq2Seq::encode(Tape& tape, const data::Sources& sources) const {
  return encoder_->run(source_(tape, sources.tokens.values(), tape.offsets(sources.tokens.offsets())));
}

Loss Seq2Seq::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const SelfCriticalBaseline baseline(target_decoder_.needs_self_critical_baseline(tape),
                                      [&](Tape& plain) { return loss(plain, batch, {}); });
  return target_decoder_.loss(encode(tape, batch.sources), batch, options, baseline.row_nll());
}

void Seq2Seq::each_logits(Tape& tape, const data::Sources& sources, const PackedIds& inputs,
                          const std::function<void(int64_t first, Tensor logits)>& visit) const {
  target_decoder_.each_logits(encode(tape, sources), sources, inputs, visit);
}

std::unique_ptr<decode::State> Seq2Seq::start(Tape& tape, const data::Sources& sources, int64_t longest) const {
  return target_decoder_.start(encode(tape, sources), sources, longest);
}

int64_t Seq2Seq::max_positions() const { return std::min(source_.max_positions(), target_decoder_.max_positions()); }

Tensor Seq2Seq::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                     decode::Alignment* alignment) const {
  return target_decoder_.step(tokens, state, tape, alignment);
}

}  // namespace heed::model
