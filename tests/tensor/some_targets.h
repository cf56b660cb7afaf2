// Classes for tests of losses: one for each row of logits.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::test {

/// [rows]. Every fourth is -1: a row that does not count.
inline std::vector<int32_t> some_targets(int64_t rows, int64_t classes) {
  std::vector<int32_t> targets;
  for (int64_t r = 0; r < rows; ++r) targets.push_back(r % 4 == 3 ? -1 : static_cast<int32_t>(r * 7 % classes));
  return targets;
}

}  // namespace heed::test
