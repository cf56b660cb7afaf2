#include "heed/checkpoint/weights.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/tensor_stream.h"

namespace heed::file {

std::vector<TensorToWrite> tensors_of(const Parameters& parameters, Dtype dtype) {
  std::vector<TensorToWrite> tensors;
  for (const Parameter& p : parameters) {
    // Integers for what products read, with a scale for each output; the few other numbers stay as they are.
    const bool whole = dtype == Dtype::i8 && !p.product;
    tensors.push_back({.name = p.name,
                       .shape = p.shape,
                       .data = p.value.data(),
                       .dtype = whole ? Dtype::f32 : dtype,
                       .column_scales = p.product == WeightOrder::in_out});
  }
  return tensors;
}

namespace {

/// Throws, listing the differences, unless there is one tensor for each parameter.
void expect_fit(const std::vector<StoredTensor>& tensors, const std::string& file, const Parameters& parameters) {
  constexpr int kListed = 20;
  int count = 0;
  std::string problems;
  const auto complain = [&](const std::string& what) {
    if (++count <= kListed) problems += "\n  " + what;
  };
  std::map<std::string_view, const StoredTensor*> by_name;
  for (const StoredTensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  for (const Parameter& p : parameters) {
    const auto tensor = by_name.find(p.name);
    if (tensor == by_name.end())
      complain(fmt::format("'{}' {} is missing", p.name, shape_text(p.shape)));
    else if (tensor->second->shape != p.shape)
      complain(fmt::format("'{}' must be {}, not {}", p.name, shape_text(p.shape), shape_text(tensor->second->shape)));
  }
  for (const StoredTensor& tensor : tensors)
    if (!parameters.find(tensor.name))
      complain(fmt::format("'{}' {} is not in the model", tensor.name, shape_text(tensor.shape)));
  if (count > kListed) problems += fmt::format("\n  and {} more", count - kListed);
  expect(problems.empty(), ErrorKind::file, "'{}' does not fit the model:{}", file, problems);
}

/// Fills a parameter, also an empty one, now that it is known to fit.
template <class Read>
void fill(Parameter& p, const Read& read) {
  std::vector<float> numbers(static_cast<size_t>(p.size()));
  read(std::span<float>(numbers));
  p.value = std::move(numbers);
}

}  // namespace

void load(const Safetensors& from, Parameters& parameters) {
  expect_fit(from.tensors(), from.file(), parameters);
  for (Parameter& p : parameters) fill(p, [&](std::span<float> into) { from.copy(from.at(p.name), into); });
}

void load(TensorStream& from, Parameters& parameters, const Loaded& loaded) {
  expect_fit(from.tensors(), from.file(), parameters);
  for (const StoredTensor& tensor : from.tensors()) {
    Parameter& p = parameters.at(tensor.name);
    fill(p, [&](std::span<float> into) { from.read(into); });
    if (loaded) loaded(p, tensor.dtype);
  }
}

void save(const std::filesystem::path& path, const Parameters& parameters, Dtype dtype) {
  write_safetensors(path, tensors_of(parameters, dtype));
}

void load(const std::filesystem::path& path, Parameters& parameters) {
  InputFile file(path);
  TensorStream stream(file, path.string());
  load(stream, parameters);
}

}  // namespace heed::file
