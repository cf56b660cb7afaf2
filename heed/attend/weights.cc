#include "heed/attend/weights.h"

#include "heed/attend/watch.h"

namespace heed::attend {

namespace {
Weights sizes(const AttentionResult& result) {
  const AttentionShape s = attention_shape(result);
  return {s.batch, s.heads, s.longest_query, s.longest_memory, nullptr};
}
}  // namespace

Weights dense_weights(const AttentionResult& result, Tape& tape) {
  Weights w = sizes(result);
  Watch::expect_room(w);
  w.data = tape.keep<float>(w.batch * w.heads * w.queries * w.keys);
  kernels::WeightsRequest request;
  request.dense = w.data;
  request.dense_keys = w.keys;
  request.query_count = w.queries;
  if (w.batch * w.heads * w.queries * w.keys > 0) attention_weights(result, request);
  return w;
}

int32_t* best_keys(const AttentionResult& result, Tape& tape) {
  const Weights w = sizes(result);
  const int64_t rows = w.batch * w.heads * w.queries;
  auto* keys = tape.keep<int32_t>(rows);
  kernels::WeightsRequest request;
  request.query_count = w.queries;
  request.top_k = 1;
  request.top_keys = keys;
  request.top_weights = tape.keep<float>(rows);
  if (rows > 0) attention_weights(result, request);
  return keys;
}

}  // namespace heed::attend
