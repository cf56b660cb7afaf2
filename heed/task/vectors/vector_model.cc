#include "heed/task/vectors/vector_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/norm.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::task {

VectorModel::VectorModel(Parameters& parameters, const model::Options& o)
    : options_(o), pool_(value_of(model::kPools, o.pool, "model: pool")) {
  expect(o.source_vocabulary > 0, "model: the vocabulary is empty");
  expect(o.width > 0 && o.encoder_layers > 0, "model: width {} and layers {} must be above 0", o.width,
         o.encoder_layers);
  expect(pool_ != model::Pool::attention,
         "model: pool = \"attention\" is for labels; a vector is the mean, max or first of the states");
  const model::Resolved words(o);
  const encode::EncoderEntry& entry = encode::find_encoder(o.encoder_kind());
  const Scope root(parameters);
  embed_ =
      embed::Embed(root / "source", model::embedding_options(o, words, o.source_vocabulary, entry.needs_positions));
  encoder_ = entry.make(root / "encoder", model::stack_options(o, words, o.encoder_layers, entry.needs_positions));
  pool_layer_ = model::PoolLayer(root / "pool" / "layer", o.pool_layer, encoder_->width());
}

Tensor VectorModel::vectors(Tape& tape, const data::Sequences& texts) const {
  const Packed states = encoder_->run(embed_(tape, texts.values(), tape.offsets(texts.offsets()))).memory;
  const Tensor x = pool_layer_(model::pooled(states, pool_));
  if (!options_.unit) return x;
  // x / |x| = x / (root mean square * sqrt(width)); a vector of zeros stays one.
  constexpr float kLeast = 1e-24f;
  const float gain = 1.0f / std::sqrt(static_cast<float>(x.cols()));
  return rms_norm(x, tape.filled(1, x.cols(), gain), kLeast);
}

model::Loss VectorModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const data::Sources& texts = batch.sources;
  expect(texts.second.size() == texts.size(), "model: expected a batch of pairs of texts");
  const Tensor first = vectors(tape, texts.tokens), second = vectors(tape, texts.second);
  std::vector<int32_t> own(static_cast<size_t>(texts.size()));
  std::iota(own.begin(), own.end(), 0);
  const float times = options_.unit ? options_.sharpness : 1.0f;
  return output_loss(scale(first, times), second, tape.filled(1, second.rows(), 0.0f), own, options);
}

int64_t VectorModel::max_positions() const {
  return std::min(embed_.max_positions(), attend::longest_memory(options_.attention));
}

}  // namespace heed::task
