#include "heed/model/picture_model.h"

#include <algorithm>

#include "heed/decode/all.h"
#include "heed/encode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/error.h"
#include "heed/tensor/op/pool.h"

namespace heed::model {

PictureModel::PictureModel(Parameters& parameters, const Options& o) : options_(o) {
  expect(o.target_vocabulary > 0 && (!o.questions || o.source_vocabulary > 0),
         "model: both vocabularies need tokens; they have {} and {}", o.source_vocabulary, o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.decoder_layers > 0,
         "model: width {}, encoder_layers {} and decoder_layers {} must be above 0", o.width, o.encoder_layers,
         o.decoder_layers);
  // A Transformer's decoder has no state to start from.
  expect(!o.questions || !decode::find_decoder(o.decoder_kind()).needs_positions,
         "model: a question is where the decoder starts, which a decoder of kind {} cannot: use rnn", o.decoder_kind());
  const Resolved words(o);
  const Scope root(parameters);
  picture_ =
      std::make_unique<encode::PictureEncoder>(root / "picture", encode::PictureOptions{.side = o.picture_size,
                                                                                        .layers = o.picture_layers,
                                                                                        .kernel = o.picture_kernel,
                                                                                        .width = o.width,
                                                                                        .dropout = o.dropout});
  if (o.questions) {
    const encode::EncoderEntry& encoder = encode::find_encoder(o.encoder_kind());
    const bool positions = encoder.needs_positions;
    words_ = embed::Embed(root / "source", embedding_options(o, words, o.source_vocabulary, positions));
    Options of_encoder = o;
    of_encoder.attention = {.heads = o.attention.heads};  // the rest is about the cells
    question_ = encoder.make(root / "question", stack_options(of_encoder, words, o.encoder_layers, positions));
    asked_ = Linear(root / "asked", question_->width(), o.width);
  }
  writer_ = Writer(root, o, *picture_, Writer::vectors(root, o));
}

encode::Encoded PictureModel::encode(Tape& tape, const data::PackedPictures& batch) const {
  const int64_t side = options_.picture_size, count = batch.size();
  expect(batch.side == side && std::ssize(batch.pixels) == count * side * side * 3,
         "model: expected {} pictures of {} x {} pixels, not {} x {}", count, side, side, batch.side, batch.side);
  encode::Encoded seen =
      picture_->run({tape.input(batch.pixels.data(), count * side * side, 3), tape.even_offsets(count, side * side)});
  if (!question_) return seen;
  const Packed tokens = words_(tape, batch.texts.source, tape.offsets(batch.texts.source_offsets));
  auto* state = tape.keep<RecurrentState>(1);
  state[0] = {asked_(mean_of_sequences(question_->run(tokens).memory)), Tensor()};
  seen.states = {state, 1};
  return seen;
}

Loss PictureModel::loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const {
  const auto* pictures = dynamic_cast<const data::PackedPictures*>(&batch);
  expect(pictures != nullptr, "model: expected a batch of pictures");
  const data::PackedPairs& texts = pictures->texts;
  TargetBatch target{.in = texts.target_in,
                     .out = texts.target_out,
                     .offsets = texts.target_offsets,
                     .updates_before = batch.updates_before};
  const UndrawnLoss undrawn(writer_.needs_undrawn(tape), [&](Tape& plain) { return loss(plain, batch, {}); });
  target.undrawn_nll = undrawn.row_nll();
  return writer_.loss(encode(tape, *pictures), target, options);
}

std::unique_ptr<decode::State> PictureModel::start(Tape& tape, const data::PackedPictures& batch,
                                                   int64_t longest) const {
  return writer_.start(encode(tape, batch), longest);
}

int64_t PictureModel::max_positions() const {
  return question_ ? std::min(words_.max_positions(), writer_.max_positions()) : writer_.max_positions();
}

}  // namespace heed::model
