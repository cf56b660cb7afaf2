// How the states of a sequence become one vector: any mechanism of the catalogue that has its own queries
// (learned_query, structured, feed_forward, self_scored), or the mean or the largest number of each column.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/attend/mechanism.h"
#include "heed/layer/parameters.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/options.h"
#include "heed/model/pool.h"

namespace heed::task {

/// What recipes call the attention that pools: [attention.pool].
inline constexpr const char* kPoolPlace = "pool";
/// As [attention] says; of two texts, whose [attention] is about the other one, [attention.pool] alone.
encode::Chosen attention_of_pool(const model::Options& options);

struct Pooling {
  std::unique_ptr<attend::Mechanism> mechanism;  // null: no attention
  model::Pool how = model::Pool::attention;
  int64_t width = 0;
  model::PoolLayer layer;

  /// As model.pool and [attention] say. states [tokens, input]
  Pooling(const Scope& scope, const model::Options& options, int64_t input);
  /// states [tokens, input] -> [sequences, width]. `weights` and `penalty` (structured) are filled if not null.
  Tensor operator()(const Packed& states, attend::Weights* weights, Tensor* penalty) const;
};

}  // namespace heed::task
