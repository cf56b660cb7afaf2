// Rows of a table, looked up by id; the same table can also serve as the weights of an output layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/layer/parameters.h"
#include "heed/tensor/tape.h"

namespace heed {

struct EmbeddingOptions {
  int64_t vocabulary = 0;
  int64_t width = 0;
  bool scaled = false;  // look up sqrt(width) times the row.  Vaswani et al. 2017, section 3.4
  float deviation =
      0.0f;  // of the initial values; 0: 1 / sqrt(width), so that the logits of a tied output start near 1
};

/// "weight" [vocabulary, width], normal.
struct Embedding {
  Parameter* weight = nullptr;
  float factor = 1.0f;

  Embedding() = default;
  Embedding(const Scope& scope, const EmbeddingOptions& options);

  /// ids [n], each in [0, vocabulary) -> [n, width]. The ids are copied.
  Tensor operator()(Tape& tape, std::span<const int32_t> ids) const;
  /// Sequences of ids, of any lengths -> their rows, stacked: [total ids, width].
  Packed packed(Tape& tape, std::span<const std::vector<int32_t>> sequences) const;

  /// x [n, width] -> x weight^T [n, vocabulary]: an output layer that shares the table.  Press and Wolf 2017
  Tensor logits(Tensor x) const;
};

}  // namespace heed
