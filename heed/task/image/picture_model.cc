#include "heed/task/image/picture_model.h"

#include <algorithm>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/pool.h"

namespace heed::task {

PictureModel::PictureModel(Parameters& parameters, const model::Options& o) : options_(o) {
  expect(o.target_vocabulary > 0 && (!o.questions || o.source_vocabulary > 0),
         "model: both vocabularies need tokens; they have {} and {}", o.source_vocabulary, o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.decoder_layers > 0,
         "model: width {}, encoder_layers {} and decoder_layers {} must be above 0", o.width, o.encoder_layers,
         o.decoder_layers);
  // A Transformer's decoder has no state to start from.
  expect(!o.questions || !decode::find_decoder(o.decoder_kind()).needs_positions,
         "model: a question is where the decoder starts, which a decoder of kind {} cannot: use rnn", o.decoder_kind());
  expect(!attend::resolve(attend::canonical(o.attention)).structure->weighs_sentences,
         "model: attention.structure = \"{}\" weighs the sentences of a source, but a picture has none",
         o.attention.structure);
  const model::Resolved words(o);
  const Scope root(parameters);
  picture_ = std::make_unique<PictureEncoder>(root / "picture", PictureOptions{.side = o.picture_size,
                                                                               .layers = o.picture_layers,
                                                                               .kernel = o.picture_kernel,
                                                                               .width = o.width,
                                                                               .dropout = o.dropout});
  if (o.questions) {
    const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
    const bool positions = encoder.needs_positions;
    words_ = embed::Embed(root / "source", model::embedding_options(o, words, o.source_vocabulary, positions));
    model::Options of_encoder = o;
    of_encoder.attention = {.heads = o.attention.heads};  // the rest is about the cells
    question_ = encoder.make(root / "question", model::stack_options(of_encoder, words, o.encoder_layers, positions));
    asked_ = Linear(root / "asked", question_->width(), o.width);
  }
  writer_ = model::TargetDecoder(root, o, *picture_, model::TargetDecoder::vectors(root, o));
}

encode::Encoded PictureModel::encode(Tape& tape, const data::Sources& sources) const {
  const int64_t side = options_.picture_size, count = sources.size(), pixels = count * side * side;
  const std::span<const uint8_t> bytes = sources.pixels.values();
  expect(std::ssize(bytes) == 3 * pixels, "model: expected {} pictures of {} x {} pixels, not {} numbers", count, side,
         side, bytes.size());
  auto* rgb = tape.keep<float>(3 * pixels);  // from -1 to 1
  for (size_t i = 0; i < bytes.size(); ++i) rgb[i] = static_cast<float>(bytes[i]) * (2.0f / 255.0f) - 1.0f;
  encode::Encoded seen = picture_->run({tape.input(rgb, pixels, 3), tape.even_offsets(count, side * side)});
  if (!question_) return seen;
  const data::Sequences& questions = sources.tokens;
  const Packed tokens = words_(tape, questions.values(), tape.offsets(questions.offsets()));
  auto* state = tape.keep<RecurrentState>(1);
  state[0] = {asked_(mean_of_sequences(question_->run(tokens).memory)), Tensor()};
  seen.states = {state, 1};
  return seen;
}

model::Loss PictureModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const model::SelfCriticalBaseline undrawn(writer_.needs_self_critical_baseline(tape),
                                            [&](Tape& plain) { return loss(plain, batch, {}); });
  return writer_.loss(encode(tape, batch.sources), batch, options, undrawn.row_nll());
}

std::unique_ptr<decode::State> PictureModel::start(Tape& tape, const data::Sources& sources, int64_t longest) const {
  return writer_.start(encode(tape, sources), sources, longest);
}

int64_t PictureModel::max_positions() const {
  return question_ ? std::min(words_.max_positions(), writer_.max_positions()) : writer_.max_positions();
}

}  // namespace heed::task
