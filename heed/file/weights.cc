#include "heed/file/weights.h"

#include <string>

#include "heed/tensor/error.h"

namespace heed::file {

std::vector<TensorToWrite> tensors_of(const Parameters& parameters) {
  std::vector<TensorToWrite> tensors;
  for (const Parameter& p : parameters) tensors.push_back({p.name, p.shape, p.value.data()});
  return tensors;
}

void load(const Safetensors& from, Parameters& parameters) {
  std::string problems;
  for (const Parameter& p : parameters) {
    const StoredTensor* tensor = from.find(p.name);
    if (!tensor)
      problems += fmt::format("\n  '{}' {} is missing", p.name, shape_text(p.shape));
    else if (tensor->shape != p.shape)
      problems += fmt::format("\n  '{}' must be {}, not {}", p.name, shape_text(p.shape), shape_text(tensor->shape));
  }
  for (const StoredTensor& tensor : from.tensors())
    if (!parameters.find(tensor.name))
      problems += fmt::format("\n  '{}' {} is nothing that the model has", tensor.name, shape_text(tensor.shape));
  expect(problems.empty(), "'{}' does not fit the model:{}", from.file(), problems);
  for (Parameter& p : parameters) from.copy(from.at(p.name), p.value);
}

}  // namespace heed::file
