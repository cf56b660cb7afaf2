// Files of tensors in the safetensors format: 8 bytes with the size of the header, the header in JSON, the numbers.
//
//   {"__metadata__": {"format": "heed"}, "encoder.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
// The reader trusts nothing: a file that breaks a rule of the format is refused, with that rule. Numbers are
// little-endian, row-major, and of the types of base/dtype.h; the other types of the format are recognised and
// refused. In memory they are float32.
//
// A matrix of int8 has a scale for each row or each column (base/int8.h), a tensor of its own that stands just before:
// "x.scale", float32, [rows, 1] or [1, columns], then "x". Here both are one tensor, and its numbers those that are
// meant. Without a scale int8 is refused: nobody knows what was rounded to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/dtype.h"

namespace heed::file {

constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // bytes, as in the reference implementation
constexpr size_t kMaxTensorRank = 8;

using Metadata = std::map<std::string, std::string>;

// ------------------------------------------------------------------------------------------------------------- writing

/// A tensor owned by someone else. An empty shape is a single number.
struct TensorToWrite {
  std::string name;
  std::vector<int64_t> shape;
  const float* data = nullptr;
  Dtype dtype = Dtype::f32;    // in the file: rounded to the nearest
  bool column_scales = false;  // of int8: a scale for each column, not for each row
};

/// Writes piece by piece, in the order given. Everything is checked before the first piece, also that no finite number
/// is too large for its type.
void write_safetensors(std::span<const TensorToWrite> tensors, const Metadata& metadata,
                       const std::function<void(std::span<const std::byte>)>& sink);
std::vector<std::byte> safetensors_bytes(std::span<const TensorToWrite> tensors, const Metadata& metadata = {});
/// As a file, written atomically.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const Metadata& metadata = {});

// ------------------------------------------------------------------------------------------------------------- reading

struct StoredTensor {
  std::string name;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes, counted from the end of the header
  Dtype dtype = Dtype::f32;
  std::string unread = {};           // the name of a type of whole numbers, which are not read; otherwise empty
  std::vector<int64_t> scales = {};  // of int8: the shape of the scales, which come first

  size_t scale_count() const { return scales.empty() ? 0 : static_cast<size_t>(scales[0] * scales[1]); }
  uint64_t scale_bytes() const { return scale_count() * sizeof(float); }
  size_t count() const { return static_cast<size_t>((end - begin - scale_bytes()) / bytes_of(dtype)); }  // numbers
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their numbers
  Metadata metadata;
};

/// What becomes of tensors of whole numbers, which other programs store beside those of a model.
enum class WholeNumbers { refused, listed };

/// The header alone, `json`, of a file with `data_size` bytes after it. `file` names it in errors.
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_size, std::string_view file,
                                           WholeNumbers whole = WholeNumbers::refused);

/// The first 8 bytes: how long the header is. Throws if that cannot be, in a file of `file_size` bytes.
uint64_t safetensors_header_size(std::span<const std::byte> bytes, uint64_t file_size, std::string_view file);

/// Throws unless a tensor has this many numbers.
void expect_room(const StoredTensor& tensor, size_t count, std::string_view file);
/// Numbers of a tensor, from `first` on, from their bytes in the file. `scales`: those of int8. Throws if a finite one
/// is too large for float32.
void read_tensor(const StoredTensor& tensor, std::span<const std::byte> bytes, size_t first, std::span<float> into,
                 std::string_view file, std::span<const float> scales = {});

/// Threads: many may read it at once.
class Safetensors {
 public:
  /// `file` names the bytes in errors.
  Safetensors(std::vector<std::byte> bytes, std::string file, WholeNumbers whole = WholeNumbers::refused);
  static Safetensors read(const std::filesystem::path& path, WholeNumbers whole = WholeNumbers::refused);

  const std::string& file() const { return file_; }
  std::span<const std::byte> bytes() const { return *bytes_; }  // of the whole file
  const Metadata& metadata() const { return header_.metadata; }
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  const StoredTensor* find(std::string_view name) const;  // or null
  const StoredTensor& at(std::string_view name) const;    // throws, naming the nearest name

  /// As float32; throws if a finite number is too large for that.
  std::vector<float> values(std::string_view name) const;
  void copy(const StoredTensor& tensor, std::span<float> into) const;  // as many numbers as the tensor has

 private:
  std::string file_;
  std::shared_ptr<const std::vector<std::byte>> bytes_;  // shared by copies
  size_t data_ = 0;  // where the numbers start in *bytes_: possibly unaligned, so they are copied before use
  SafetensorsHeader header_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

/// "[2, 3]"
std::string shape_text(std::span<const int64_t> shape);

/// Why a tensor cannot have this shape; empty if it can. Then also its size in bytes.
std::string shape_problem(std::span<const int64_t> shape);
uint64_t tensor_bytes(std::span<const int64_t> shape, Dtype dtype = Dtype::f32);

/// In a file, with its scales.
uint64_t tensor_bytes(const TensorToWrite& tensor);

/// What the scales of an int8 matrix are called.
std::string scales_of(std::string_view name);

/// The name of a type in the format: "F32".
const char* safetensors_name(Dtype dtype);

}  // namespace heed::file
