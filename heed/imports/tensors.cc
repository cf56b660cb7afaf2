#include "heed/imports/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "heed/base/error.h"

namespace heed::imports {

void ForeignTensors::add(std::string name, ForeignTensor tensor) {
  const bool is_new = all_.emplace(name, std::move(tensor)).second;
  expect(is_new, ErrorKind::file, "'{}' has two tensors '{}'", file_, name);
}

const ForeignTensor& ForeignTensors::at(std::string_view name) const {
  const auto found = all_.find(name);
  expect(found != all_.end(), ErrorKind::file, "'{}' has no tensor '{}', which such a model needs", file_, name);
  return found->second;
}

std::vector<float> ForeignTensors::take(std::string_view name, const Shape& shape) {
  const ForeignTensor& tensor = at(name);
  expect(tensor.shape == shape, ErrorKind::file, "'{}': '{}' is {}, but should be {}", file_, name,
         text_of(tensor.shape), text_of(shape));
  set_used(name);
  return tensor.numbers();
}

std::optional<double> ForeignTensors::number(std::string_view name) {
  if (!has(name)) return std::nullopt;
  expect(shape(name).empty() || shape(name) == Shape{1}, ErrorKind::file, "'{}': '{}' is {}, but should be a number",
         file_, name, text_of(shape(name)));
  return take(name, shape(name)).front();
}

void ForeignTensors::set_used(std::string_view name) { used_.emplace(name, true); }

std::vector<std::string> ForeignTensors::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : all_)
    if (used_.find(name) == used_.end()) names.push_back(name);
  return names;
}

std::string text_of(const Shape& shape) {
  return shape.empty() ? "a number" : fmt::format("a tensor of {}", fmt::join(shape, " x "));
}

}  // namespace heed::imports
