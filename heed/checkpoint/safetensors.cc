#include "heed/checkpoint/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/int8.h"
#include "heed/base/json_text.h"
#include "heed/base/nearest.h"

namespace heed::file {

namespace {

constexpr size_t kLengthBytes = 8;          // the size of the header, and what the header is padded to
constexpr size_t kNumbersAtOnce = 1 << 16;  // that are converted

std::string quoted(const std::string& text) {
  std::optional<std::string> result = json_text(text);
  expect(result.has_value(),
         "cannot write tensors: a name or a text of the "
         "metadata is not valid UTF-8");
  return *std::move(result);
}

/// use(at, fit, bytes) for all numbers of a tensor, piece by piece: the bytes in the file of those from `at` on, of
/// which the first `fit` are not too large for its type.
template <class Use>
void for_converted(const TensorToWrite& tensor, const Use& use) {
  const uint64_t count = tensor_bytes(tensor.shape) / sizeof(float);
  std::vector<std::byte> bytes(std::min<uint64_t>(count, kNumbersAtOnce) * bytes_of(tensor.dtype));
  for (uint64_t at = 0; at < count; at += kNumbersAtOnce) {
    const std::span numbers(tensor.data + at, std::min<uint64_t>(kNumbersAtOnce, count - at));
    const std::span piece(bytes.data(), numbers.size() * bytes_of(tensor.dtype));
    const size_t fit = write_numbers(tensor.dtype, numbers, piece);
    use(at, fit, piece);
  }
}

/// use(n, scale, integers) for each row or column of an int8 matrix: those that have one scale.
template <class Use>
void for_scaled(const TensorToWrite& tensor, const Use& use) {
  const int64_t rows = tensor.shape[0], cols = tensor.shape[1];
  const bool down = tensor.column_scales;
  std::vector<int8_t> integers(static_cast<size_t>(down ? rows : cols));
  for (int64_t n = 0; n < (down ? cols : rows); ++n) {
    const float scale = round_to_int8(tensor.data + (down ? n : n * cols), std::ssize(integers), down ? cols : 1,
                                      [&](int64_t i, int8_t integer) { integers[static_cast<size_t>(i)] = integer; });
    use(n, scale, std::span<const int8_t>(integers));
  }
}

std::vector<int64_t> shape_of_scales(const TensorToWrite& tensor) {
  return tensor.column_scales ? std::vector<int64_t>{1, tensor.shape[1]} : std::vector<int64_t>{tensor.shape[0], 1};
}

void write_int8(const TensorToWrite& tensor, const std::function<void(std::span<const std::byte>)>& sink) {
  std::vector<float> scales;
  std::vector<int8_t> all(tensor_bytes(tensor.shape, Dtype::i8));
  const bool down = tensor.column_scales;
  for_scaled(tensor, [&](int64_t n, float scale, std::span<const int8_t> integers) {
    scales.push_back(scale);
    for (size_t i = 0; i < integers.size(); ++i)
      all[down ? i * static_cast<size_t>(tensor.shape[1]) + static_cast<size_t>(n)
               : static_cast<size_t>(n) * integers.size() + i] = integers[i];
  });
  sink(std::as_bytes(std::span(scales)));
  sink(std::as_bytes(std::span(all)));
}

void expect_fits(const TensorToWrite& tensor) {
  if (tensor.dtype == Dtype::f32 || tensor.dtype == Dtype::f64) return;
  if (tensor.dtype == Dtype::i8) {
    expect(tensor.shape.size() == 2, "cannot write tensor '{}' as int8: it is no matrix, but {}", tensor.name,
           shape_text(tensor.shape));
    for_scaled(tensor, [&](int64_t n, float scale, std::span<const int8_t>) {
      expect(std::isfinite(scale), "cannot write tensor '{}' as int8: a number in {} {} is infinite or NaN",
             tensor.name, tensor.column_scales ? "column" : "row", n);
    });
    return;
  }
  for_converted(tensor, [&](uint64_t at, size_t fit, std::span<const std::byte> piece) {
    expect(fit * bytes_of(tensor.dtype) == piece.size(),
           "cannot write tensor '{}' as {}: {} at index {} is too large for it; use float32", tensor.name,
           name_of(tensor.dtype), tensor.data[at + fit], at + fit);
  });
}

/// The header with its size before it.
std::string front(std::span<const TensorToWrite> tensors, const Metadata& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, text] : metadata) texts.push_back(quoted(key) + ":" + quoted(text));
    entries.push_back(fmt::format(R"("__metadata__":{{{}}})", fmt::join(texts, ",")));
  }
  std::set<std::string, std::less<>> names;
  uint64_t begin = 0;
  const auto add = [&](const std::string& name, Dtype dtype, std::span<const int64_t> shape) {
    expect(names.insert(name).second, "cannot write two tensors with the name '{}'", name);
    const uint64_t end = begin + tensor_bytes(shape, dtype);
    entries.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", quoted(name),
                                  safetensors_name(dtype), fmt::join(shape, ","), begin, end));
    begin = end;
  };
  for (const TensorToWrite& tensor : tensors) {
    const std::string problem = shape_problem(tensor.shape);
    expect(problem.empty(), "cannot write tensor '{}': {}", tensor.name, problem);
    expect(tensor.name != "__metadata__", "cannot write a tensor with the name __metadata__: the format reserves it");
    expect(tensor.data != nullptr || tensor_bytes(tensor.shape) == 0, "cannot write tensor '{}': it has no data",
           tensor.name);
    expect_fits(tensor);
    if (tensor.dtype == Dtype::i8) add(scales_of(tensor.name), Dtype::f32, shape_of_scales(tensor));
    add(tensor.name, tensor.dtype, tensor.shape);
  }
  std::string json = fmt::format("{{{}}}", fmt::join(entries, ","));
  json.resize((json.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  const uint64_t length = json.size();
  expect(length <= kMaxSafetensorsHeader,
         "cannot write tensors: the header would have {} bytes; at most {} are allowed", length, kMaxSafetensorsHeader);
  std::string size(sizeof length, '\0');
  std::memcpy(size.data(), &length, sizeof length);
  return size + json;
}

}  // namespace

uint64_t tensor_bytes(const TensorToWrite& tensor) {
  const uint64_t numbers = tensor_bytes(tensor.shape, tensor.dtype);
  return tensor.dtype == Dtype::i8 ? numbers + tensor_bytes(shape_of_scales(tensor), Dtype::f32) : numbers;
}

// ------------------------------------------------------------------------------------------------------------- writing

void write_safetensors(std::span<const TensorToWrite> tensors, const Metadata& metadata,
                       const std::function<void(std::span<const std::byte>)>& sink) {
  const std::string header = front(tensors, metadata);
  sink(std::as_bytes(std::span(header)));
  for (const TensorToWrite& tensor : tensors) {
    if (tensor.dtype == Dtype::i8) {
      write_int8(tensor, sink);
      continue;
    }
    const uint64_t count = tensor_bytes(tensor.shape) / sizeof(float);
    if (count == 0) continue;
    if (tensor.dtype == Dtype::f32)
      sink(std::as_bytes(std::span(tensor.data, count)));
    else
      for_converted(tensor, [&](uint64_t, size_t, std::span<const std::byte> piece) { sink(piece); });
  }
}

std::vector<std::byte> safetensors_bytes(std::span<const TensorToWrite> tensors, const Metadata& metadata) {
  std::vector<std::byte> all;
  write_safetensors(tensors, metadata,
                    [&](std::span<const std::byte> piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const Metadata& metadata) {
  write_file(path, [&](OutputFile& file) {
    write_safetensors(tensors, metadata, [&](std::span<const std::byte> piece) { file.write(piece); });
  });
}

// ------------------------------------------------------------------------------------------------------------- reading

uint64_t safetensors_header_size(std::span<const std::byte> bytes, uint64_t file_size, std::string_view file) {
  expect(file_size >= kLengthBytes && bytes.size() >= kLengthBytes, ErrorKind::file,
         "'{}': it has {} bytes, and a safetensors file has at least {}", file, file_size, kLengthBytes);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  expect(length <= kMaxSafetensorsHeader, ErrorKind::file,
         "'{}': the header claims {} bytes; at most {} are allowed. This is not a safetensors file", file, length,
         kMaxSafetensorsHeader);
  expect(length <= file_size - kLengthBytes, ErrorKind::file,
         "'{}': the header claims {} bytes, but only {} follow; is the file "
         "cut off?",
         file, length, file_size - kLengthBytes);
  return length;
}

void expect_room(const StoredTensor& tensor, size_t count, std::string_view file) {
  expect(count == tensor.count(), ErrorKind::file, "'{}': tensor '{}' has shape {}; there is room for {} numbers", file,
         tensor.name, shape_text(tensor.shape), count);
}

void read_tensor(const StoredTensor& tensor, std::span<const std::byte> bytes, size_t first, std::span<float> into,
                 std::string_view file, std::span<const float> scales) {
  const size_t fit = read_numbers(tensor.dtype, bytes, into);
  if (!tensor.scales.empty()) {
    const auto cols = static_cast<size_t>(tensor.shape[1]);
    const bool down = tensor.scales[0] == 1;
    for (size_t i = 0; i < into.size(); ++i) into[i] *= scales[down ? (first + i) % cols : (first + i) / cols];
  }
  expect(fit == into.size(), ErrorKind::file,
         "'{}': tensor '{}' holds a number at index {} that is too large for float32", file, tensor.name, first + fit);
}

Safetensors::Safetensors(std::vector<std::byte> bytes, std::string file, WholeNumbers whole)
    : file_(std::move(file)), bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {
  const uint64_t length = safetensors_header_size(*bytes_, bytes_->size(), file_);
  data_ = kLengthBytes + static_cast<size_t>(length);
  const std::string_view json(reinterpret_cast<const char*>(bytes_->data()) + kLengthBytes, length);
  header_ = parse_safetensors_header(json, bytes_->size() - data_, file_, whole);
  for (size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace(header_.tensors[i].name, i);
}

Safetensors Safetensors::read(const std::filesystem::path& path, WholeNumbers whole) {
  return {read_bytes(path), path.string(), whole};
}

const StoredTensor* Safetensors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

const StoredTensor& Safetensors::at(std::string_view name) const {
  if (const StoredTensor* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const StoredTensor& tensor : header_.tensors) names.push_back(tensor.name);
  expect(!names.empty(), ErrorKind::file, "'{}': there is no tensor '{}'; the file has no tensors", file_, name);
  throw Error(ErrorKind::file,
              fmt::format("'{}': there is no tensor '{}'; did you mean '{}'?", file_, name, nearest(name, names)));
}

std::vector<float> Safetensors::values(std::string_view name) const {
  const StoredTensor& tensor = at(name);
  expect(tensor.unread.empty(), ErrorKind::file, "'{}': tensor '{}' has type {}, but numbers with a point are needed",
         file_, name, tensor.unread);
  std::vector<float> numbers(tensor.count());
  copy(tensor, numbers);
  return numbers;
}

void Safetensors::copy(const StoredTensor& tensor, std::span<float> into) const {
  expect(tensor.unread.empty(), ErrorKind::bug, "'{}': tensor '{}' has type {}", file_, tensor.name, tensor.unread);
  expect_room(tensor, into.size(), file_);
  const std::span<const std::byte> all = bytes().subspan(data_ + tensor.begin, tensor.end - tensor.begin);
  std::vector<float> scales(tensor.scale_count());
  read_numbers(Dtype::f32, all.first(tensor.scale_bytes()), scales);
  read_tensor(tensor, all.subspan(tensor.scale_bytes()), 0, into, file_, scales);
}

}  // namespace heed::file
