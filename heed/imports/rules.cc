#include "heed/imports/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "heed/base/error.h"

namespace heed::imports {

namespace {

std::string with_number(std::string_view name, int64_t layer) {
  std::string text(name);
  if (const size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, std::to_string(layer));
  return text;
}

/// [rows, cols] -> [cols, rows]
std::vector<float> turned(const std::vector<float>& x, int64_t rows, int64_t cols) {
  std::vector<float> y(x.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) y[static_cast<size_t>(c * rows + r)] = x[static_cast<size_t>(r * cols + c)];
  return y;
}

Shape shape_of(const Parameter& p) { return p.shape; }

int64_t product(const Shape& shape, size_t from) {
  int64_t all = 1;
  for (size_t i = from; i < shape.size(); ++i) all *= shape[i];
  return all;
}

}  // namespace

/// What is left of it for the next rule.
struct Filler::Rows {
  Shape shape;  // as a parameter here would have it
  std::vector<float> numbers;
  int64_t taken = 0;
};

void Filler::set_zero(Parameter& p) {
  set(p.name, std::vector<float>(static_cast<size_t>(product(p.shape, 0))), p.name);
}

void Filler::apply(std::span<const Rule> rules, int64_t layers, std::string_view under) {
  for (int64_t layer = 0; layer < std::max<int64_t>(layers, 1); ++layer) {
    std::map<std::string, Rows> open;
    for (const Rule& rule : rules) {
      const bool of_layers = rule.to.find("{}") != std::string_view::npos;
      if (of_layers ? layer >= layers : layer > 0) continue;
      Parameter& p = parameters_.at(std::string(under) + with_number(rule.to, layer));
      const std::string from = with_number(rule.from, layer);
      if (rule.may_lack && !tensors_.has(from)) {
        set_zero(p);
        continue;
      }
      if (open.find(from) == open.end()) {
        Rows rows{tensors_.shape(from), tensors_.take(from)};
        expect(rows.shape.size() == p.shape.size(), ErrorKind::file, "'{}': '{}' is {}, but should have {} dimensions",
               tensors_.file(), from, text_of(rows.shape), p.shape.size());
        if (rule.form == Form::turned && rows.shape.size() == 2) {
          rows.numbers = turned(rows.numbers, rows.shape[0], rows.shape[1]);
          std::swap(rows.shape[0], rows.shape[1]);
        }
        open.emplace(from, std::move(rows));
      }
      Rows& rows = open.at(from);
      const Shape wanted = shape_of(p);
      const int64_t width = product(wanted, 1);
      const bool fits = width == product(rows.shape, 1) && rows.taken + wanted[0] <= rows.shape[0];
      expect(fits, ErrorKind::file, "'{}': '{}' is {}, which does not hold {} as {} of it", tensors_.file(), from,
             text_of(tensors_.shape(from)), p.name, text_of(wanted));
      const auto begin = rows.numbers.begin() + rows.taken * width;
      set(p.name, {begin, begin + wanted[0] * width}, from);
      rows.taken += wanted[0];
    }
    for (const auto& [from, rows] : open)
      expect(rows.taken == rows.shape[0], ErrorKind::file, "'{}': '{}' is {}, but {} rows of it would be needed",
             tensors_.file(), from, text_of(tensors_.shape(from)), rows.taken);
  }
}

void Filler::set(std::string_view to, std::vector<float> values, std::string_view from) {
  Parameter& p = parameters_.at(to);
  expect(static_cast<int64_t>(values.size()) == product(p.shape, 0), ErrorKind::file,
         "'{}': '{}' has {} numbers, but {} should be {}", tensors_.file(), from, values.size(), to, text_of(p.shape));
  const bool finite = std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  expect(finite, ErrorKind::file, "'{}': '{}' has numbers that are infinite or none", tensors_.file(), from);
  expect(filled_.emplace(to).second, ErrorKind::bug, "import: '{}' is filled twice", to);
  p.value = std::move(values);
}

void Filler::expect_complete() const {
  for (const Parameter& p : parameters_)
    expect(filled_.contains(p.name), ErrorKind::bug, "import: nothing fills '{}'", p.name);
}

}  // namespace heed::imports
