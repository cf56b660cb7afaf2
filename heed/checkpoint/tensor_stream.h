// A file of tensors (safetensors.h) that is read once, from front to end: one tensor is in memory at a time, not the
// file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "heed/base/disk.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/layer/parameters.h"

namespace heed::file {

class TensorStream {
 public:
  using Seen = std::function<void(std::span<const std::byte>)>;

  /// Reads the header of a file that is at its start, as strictly as Safetensors does. `name`: of the file in errors.
  /// `seen` is given every byte of the file that is read, in order: to hash them.
  TensorStream(InputFile& input, std::string name, Seen seen = {});

  const std::string& file() const { return name_; }
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  /// The next of tensors(), in their order: as many numbers as it has.
  void read(std::span<float> into);
  /// All that were not read yet, to be seen alone.
  void skip_rest();

 private:
  void read_bytes(std::span<std::byte> into);

  std::string name_;
  InputFile* input_;
  Seen seen_;
  SafetensorsHeader header_;
  size_t next_ = 0;    // of the tensors
  uint64_t left_ = 0;  // bytes of numbers
};

/// Fills parameters as load() of weights.h does. `loaded` is called after each with the type that its numbers have in
/// the file, for example to pack it before the next one is read.
using Loaded = std::function<void(Parameter&, Dtype)>;
void load(TensorStream& from, Parameters& parameters, const Loaded& loaded = {});

}  // namespace heed::file
