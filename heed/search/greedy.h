// The likeliest token at every step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/seq2seq.h"

namespace heed::search {

struct GreedyOptions {
  int32_t start = 1, end = 2;
  int64_t longest = 200;  // tokens of a hypothesis
  bool alignment = false;
};

struct Hypothesis {
  std::vector<int32_t> tokens;  // without START and END
  double log_probability = 0.0;
  bool finished = false;  // END came before `longest`
  std::vector<std::vector<float>>
      alignment;  // [tokens + END][source tokens], last layer, mean of the heads; on request
};

/// A batch of packed sources -> a hypothesis each. The tape must not be recording; it is reset.
std::vector<Hypothesis> greedy(const model::Seq2Seq& model, Tape& tape, std::span<const int32_t> source,
                               std::span<const int64_t> offsets, const GreedyOptions& options = {});

}  // namespace heed::search
