// A picture and perhaps a question in, words out: pixels -> cells of a map; the question -> where the decoder starts;
// the decoder looks at the cells and writes. A label is an answer of one token.
//
//   Xu et al. 2015: Show, attend and tell (captions);  Yang et al. 2016: Stacked attention networks (questions)
#pragma once

#include <cstdint>
#include <memory>

#include "heed/data/picture_examples.h"
#include "heed/embed/embed.h"
#include "heed/encode/encoder.h"
#include "heed/encode/picture.h"
#include "heed/layer/linear.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/writer.h"

namespace heed::model {

class PictureModel final : public Model {
 public:
  PictureModel(Parameters& parameters, const Options& options);

  Loss loss(Tape& tape, const data::PackedBatch& batch,
            const OutputLossOptions& options) const override;  // PackedPictures
  int64_t max_positions() const override;

  const Options& options() const { return options_; }
  int64_t cells_of_side() const { return encode::cells_of_side(options_.picture_size, options_.picture_layers); }

  /// For a search: memory of the cells of each picture, and the state after the question. The targets of the batch are
  /// not used.
  std::unique_ptr<decode::State> start(Tape& tape, const data::PackedPictures& batch, int64_t longest) const;
  const Writer& writer() const { return writer_; }

 private:
  encode::Encoded encode(Tape& tape, const data::PackedPictures& batch) const;

  Options options_;
  std::unique_ptr<encode::PictureEncoder> picture_;
  // Of questions:
  embed::Embed words_;
  std::unique_ptr<encode::Encoder> question_;
  Linear asked_;  // mean of the states -> [B, width]
  Writer writer_;
};

}  // namespace heed::model
