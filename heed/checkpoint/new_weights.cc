#include "heed/checkpoint/new_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"

namespace heed::trained {

namespace {

void expect_fit(const Parameter& p, const NewWeights& given) {
  expect(given.shape == p.shape && std::ssize(given.values) == p.size(), "{}: expected [{}], got [{}]", p.name,
         fmt::join(p.shape, ", "), fmt::join(given.shape, ", "));
  const auto bad = std::find_if_not(given.values.begin(), given.values.end(), [](float x) { return std::isfinite(x); });
  expect(bad == given.values.end(), "{}: expected finite numbers, got {} at index {}", p.name, *bad,
         bad - given.values.begin());
}

void write(Parameter& p, std::span<const float> values) {
  const WeightFormat* format = p.value.is_packed() ? &p.value.packed({.order = *p.product})->format() : nullptr;
  p.value = std::vector<float>(values.begin(), values.end());
  if (format) p.pack(*format);
}

}  // namespace

void write_weights(Parameters& parameters, std::span<const NewWeights> weights) {
  std::vector<std::pair<Parameter*, std::span<const float>>> all;
  for (const NewWeights& each : weights) {
    Parameter& p = parameters.at(each.name);
    expect_fit(p, each);
    all.emplace_back(&p, each.values);
  }
  for (const auto& [parameter, values] : all) write(*parameter, values);
}

}  // namespace heed::trained
