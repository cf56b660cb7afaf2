// Counting n-grams of a hypothesis and its references.
//
// Every n-gram gets a number, per order 0, 1, 2 ...: that of order n is known by the number of its first n - 1 symbols
// and by its last symbol, so no n-gram is ever copied, and counts are arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed::metric {

/// counts[n - 1][number]: how often. An array ends with the last number that is there.
using NgramCounts = std::vector<std::vector<int64_t>>;

class Ngrams {
 public:
  explicit Ngrams(size_t order) : numbers_(order) {}

  /// Counts of one table can be compared with each other. `Symbols`: tokens as numbers, or code points.
  template <class Symbols>
  NgramCounts count(const Symbols& symbols) {
    NgramCounts counts(numbers_.size());
    // What ends before i, per symbol: the number of the n-gram that begins there.
    std::vector<uint32_t> shorter(symbols.size(), 0);
    for (size_t n = 1; n <= counts.size(); ++n)
      for (size_t i = 0; i + n <= symbols.size(); ++i) {
        const uint64_t key = uint64_t{shorter[i]} << 32 | static_cast<uint32_t>(symbols[i + n - 1]);
        const uint32_t number = numbers_[n - 1].try_emplace(key, numbers_[n - 1].size()).first->second;
        auto& of_order = counts[n - 1];
        if (of_order.size() <= number) of_order.resize(number + 1);
        ++of_order[number];
        shorter[i] = number;
      }
    return counts;
  }

 private:
  std::vector<std::unordered_map<uint64_t, uint32_t>> numbers_;
};

/// Numbers for words: equal words, equal numbers.
class WordNumbers {
 public:
  std::vector<int32_t> of(std::span<const std::u32string> words) {
    std::vector<int32_t> numbers;
    numbers.reserve(words.size());
    for (const auto& word : words)
      numbers.push_back(numbers_.try_emplace(word, static_cast<int32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::u32string, int32_t> numbers_;
};

/// Of one order: all, and those that both have.
inline int64_t sum(std::span<const int64_t> counts) {
  int64_t all = 0;
  for (const int64_t count : counts) all += count;
  return all;
}

inline int64_t matching(std::span<const int64_t> a, std::span<const int64_t> b) {
  int64_t both = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) both += a[i] < b[i] ? a[i] : b[i];
  return both;
}

}  // namespace heed::metric
