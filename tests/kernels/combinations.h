// Every score, normaliser and region by name: the axes of the big product that forward, backward and gradient tests
// share.
#pragma once

#include <cctype>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/case.h"

namespace heed::kernels::test {

struct Part {
  std::string name;
  std::function<void(Case&)> apply;
};
inline void PrintTo(const Part& part, std::ostream* out) { *out << part.name; }

inline void showValue(const Part& part, std::ostream& out) { out << part.name; }  // RapidCheck's word for it

std::vector<Part> all_scores();

std::vector<Part> all_normalisers();

/// Half of them also carry the guided cost, so that it meets every score and normaliser.
std::vector<Part> all_regions();

/// Those of the parts that have these names.
std::vector<Part> only(const std::vector<Part>& parts, const std::vector<std::string>& names);

using Combination = std::tuple<Part, Part, Part>;

Case combine(const Shape& shape, const Combination& combination);

inline std::string combination_name(const testing::TestParamInfo<Combination>& info) {
  return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name + "_x_" + std::get<2>(info.param).name;
}

inline auto every_combination() {
  return testing::Combine(testing::ValuesIn(all_scores()), testing::ValuesIn(all_normalisers()),
                          testing::ValuesIn(all_regions()));
}

}  // namespace heed::kernels::test
