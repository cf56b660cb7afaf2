// A mechanism at work on one sentence of six words, whose vectors are so small that they can be followed by hand: for
// heed explain, the pages of the catalogue and their pictures. The library computes every number.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/attend/all.h"

namespace heed::cli {

struct NamedValues {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct WorkedExample {
  attend::Options options;
  std::vector<std::string> keys, queries;               // words; queries: also those that the mechanism has itself
  std::vector<float> key_rows, query_rows, value_rows;  // [words, 2]; query_rows is empty if they are its own
  bool plain = false;                                   // the values are the keys
  std::vector<NamedValues> parameters;
  int64_t heads = 0, width = 0;
  std::vector<float> scores;   // [heads, queries, keys] before any region; empty where there are none to show
  std::vector<float> weights;  // [heads, queries, keys]
  std::vector<float> context;  // [queries, width]
  std::string refused;         // why there is no example, if there is none

  float weight(int64_t head, size_t query, size_t key) const {
    return weights[(static_cast<size_t>(head) * queries.size() + query) * keys.size() + key];
  }
};

struct ExampleOptions {
  size_t words = 6;                                           // of the sentence, from its start
  std::vector<std::pair<std::string, std::string>> set = {};  // options of the mechanism: {"window", "1"}
  std::vector<float> query = {};  // [2], instead of that of the second word; empty: as it is
};

inline constexpr size_t kExampleQuery = 1;  // whose numbers are told

/// Throws Error for an option that does not exist, or that the mechanism refuses, and for a query of another width.
WorkedExample worked_example(const attend::Entry& entry, const ExampleOptions& options);

}  // namespace heed::cli
