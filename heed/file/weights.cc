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
  constexpr int kListed = 20;
  int count = 0;
  std::string problems;
  const auto complain = [&](const std::string& what) {
    if (++count <= kListed) problems += "\n  " + what;
  };
  for (const Parameter& p : parameters) {
    const StoredTensor* tensor = from.find(p.name);
    if (!tensor)
      complain(fmt::format("'{}' {} is missing", p.name, shape_text(p.shape)));
    else if (tensor->shape != p.shape)
      complain(fmt::format("'{}' must be {}, not {}", p.name, shape_text(p.shape), shape_text(tensor->shape)));
  }
  for (const StoredTensor& tensor : from.tensors())
    if (!parameters.find(tensor.name))
      complain(fmt::format("'{}' {} is not in the model", tensor.name, shape_text(tensor.shape)));
  if (count > kListed) problems += fmt::format("\n  and {} more", count - kListed);
  expect(problems.empty(), ErrorKind::file, "'{}' does not fit the model:{}", from.file(), problems);
  for (Parameter& p : parameters) {
    p.value.resize(static_cast<size_t>(p.size()));  // of empty ones: now that they are known to fit
    from.copy(from.at(p.name), p.value);
  }
}

void save(const std::filesystem::path& path, const Parameters& parameters) {
  write_safetensors(path, tensors_of(parameters));
}

void load(const std::filesystem::path& path, Parameters& parameters) { load(Safetensors::read(path), parameters); }

}  // namespace heed::file
