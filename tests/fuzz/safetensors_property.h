// What must hold for any bytes whatsoever: they are refused with a reason, or they are tensors that can be read,
// written and read again.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"
#include "tests/fuzz/require.h"

namespace heed::test {

/// True where the bytes are a file.
inline bool check_safetensors(std::span<const std::byte> bytes) {
  std::vector<file::TensorToWrite> again;
  std::vector<std::vector<float>> values;
  try {
    const file::Safetensors file({bytes.begin(), bytes.end()}, "fuzz");
    size_t total = 0;
    for (const file::StoredTensor& tensor : file.tensors()) {
      values.push_back(file.values(tensor.name));
      require(values.back().size() == tensor.count(), "more or fewer numbers than the header says");
      total += tensor.end - tensor.begin;
    }
    require(total <= bytes.size() - 8, "the tensors are larger than the file");
    for (size_t i = 0; i < values.size(); ++i)
      again.push_back({file.tensors()[i].name, file.tensors()[i].shape, values[i].data(), file.tensors()[i].dtype});
    const file::Safetensors copy(file::safetensors_bytes(again, file.metadata()), "again");
    require(copy.metadata() == file.metadata(), "other metadata after writing and reading");
    require(copy.tensors().size() == values.size(), "other tensors after writing and reading");
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<float> numbers = copy.values(again[i].name);
      require(copy.at(again[i].name).shape == again[i].shape, "another shape after writing and reading");
      require(copy.at(again[i].name).dtype == again[i].dtype, "another type after writing and reading");
      require(numbers.size() == values[i].size(), "more or fewer numbers after writing and reading");
      require(numbers.empty() || std::memcmp(numbers.data(), values[i].data(), numbers.size() * sizeof(float)) == 0,
              "other numbers after writing and reading");
    }
    return true;
  } catch (const Error& error) {
    require_refusal(error, !again.empty());
    return false;
  }
}

}  // namespace heed::test
