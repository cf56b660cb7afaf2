// Upper limits for numbers in a recipe that no sensible training run reaches: beyond them it would use all memory, or
// never end.
#pragma once

namespace heed::task {

inline constexpr double kMostUpdates = 1e12;
inline constexpr double kMostLines = 1e9;      // lines, pairs, epochs, minutes
inline constexpr double kMostTokens = 1e9;     // of a batch, a side of a pair, a window
inline constexpr double kMostColumns = 1e6;    // of a TSV
inline constexpr double kMostWidth = 1 << 20;  // of vectors
inline constexpr double kMostHeads = 65536;
inline constexpr double kLargestRate = 1000;  // of learning, weight decay

}  // namespace heed::task
