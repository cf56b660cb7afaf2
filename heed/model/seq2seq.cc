#include "heed/model/seq2seq.h"

#include <algorithm>

#include "heed/attend/census.h"
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
  const attend::Census census;
  const Resolved words(o);
  check_sizes(o);
  const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
  const Scope root(parameters);
  source_ = embed::Embed(root / "source", embedding_options(o, words, o.source_vocabulary, encoder.needs_positions));
  const embed::Embed target = TargetDecoder::vectors(root, o, words.tied == Tied::all ? source_.table() : nullptr);
  encoder_ = encoder.make(root / "encoder", stack_options(o, words, o.encoder_layers, encoder.needs_positions));
  target_decoder_ = TargetDecoder(root, o, *encoder_, target);
  longest_memory_ = census.longest_memory();
}

encode::Encoded Seq2Seq::encode(Tape& tape, const data::Sources& sources) const {
  encode::Encoded encoded =
      encoder_->run(source_(tape, sources.tokens.values(), tape.offsets(sources.tokens.offsets())));
  if (sources.sentences.size() == 0) return encoded;
  auto* sentence = tape.keep<int32_t>(std::ssize(sources.tokens.values()));
  for (int64_t b = 0, row = 0; b < sources.size(); ++b) {
    const std::span<const int32_t> lengths = sources.sentences[b];
    for (size_t s = 0; s < lengths.size(); ++s)
      for (int32_t i = 0; i < lengths[s]; ++i) sentence[row++] = static_cast<int32_t>(s);
    expect(row == sources.tokens.offsets()[static_cast<size_t>(b) + 1], ErrorKind::bug,
           "model: the sentences of a source do not add up to its tokens");
  }
  encoded.sentences = sentence;
  return encoded;
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

int64_t Seq2Seq::max_positions() const {
  return std::min({source_.max_positions(), target_decoder_.max_positions(), longest_memory_});
}

Tensor Seq2Seq::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                     decode::Alignment* alignment) const {
  return target_decoder_.step(tokens, state, tape, alignment);
}

}  // namespace heed::model
