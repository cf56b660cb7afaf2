// A text -> one vector, so that texts which mean the same have vectors that point the same way.
//
//   tokens -> vectors -> states of an encoder -> their mean, their maximum or the first -> perhaps a layer -> perhaps
//   divided by its length.     Reimers and Gurevych 2019
//
// It learns from pairs of texts that belong together: among the second texts of a batch, the one that belongs to a
// first is to be told from all others by the products of the vectors.  Henderson et al. 2017
#pragma once

#include <limits>
#include <memory>

#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/pool.h"

namespace heed::task {

class VectorModel final : public model::Model {
 public:
  VectorModel(Parameters& parameters, const model::Options& options);

  /// Of the two texts of each source: of which of the second ones a first is the other half.
  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override;
  int64_t max_predictions() const override { return std::numeric_limits<int64_t>::max(); }

  /// texts [B] -> [B, width]
  Tensor vectors(Tape& tape, const data::Sequences& texts) const;

 private:
  model::Options options_;
  embed::Embed embed_;
  std::unique_ptr<encode::Encoder> encoder_;
  model::Pool pool_;
  model::PoolLayer pool_layer_;
};

}  // namespace heed::task
