#include "heed/file/safetensors.h"

#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "heed/file/atomic.h"
#include "heed/file/disk.h"
#include "heed/file/json_text.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

namespace heed::file {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so must this machine be");

namespace {

constexpr size_t kLengthBytes = 8;  // the size of the header, and what the header is padded to

std::string quoted(const std::string& text) {
  std::optional<std::string> result = json_text(text);
  expect(result.has_value(),
         "cannot write tensors: a name or a text of the "
         "metadata is not valid UTF-8");
  return *std::move(result);
}

/// The header with its size before it.
std::string front(std::span<const TensorToWrite> tensors, const Metadata& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, text] : metadata) texts.push_back(quoted(key) + ":" + quoted(text));
    entries.push_back(fmt::format(R"("__metadata__":{{{}}})", fmt::join(texts, ",")));
  }
  std::set<std::string_view> names;
  uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::string problem = shape_problem(tensor.shape);
    expect(problem.empty(), "cannot write tensor '{}': {}", tensor.name, problem);
    expect(tensor.name != "__metadata__", "cannot write a tensor with the name __metadata__: the format reserves it");
    expect(names.insert(tensor.name).second, "cannot write two tensors with the name '{}'", tensor.name);
    const uint64_t end = begin + tensor_bytes(tensor.shape);
    expect(tensor.data != nullptr || begin == end, "cannot write tensor '{}': it has no data", tensor.name);
    entries.push_back(fmt::format(R"({}:{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", quoted(tensor.name),
                                  fmt::join(tensor.shape, ","), begin, end));
    begin = end;
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

// ------------------------------------------------------------------------------------------------------------- writing

void write_safetensors(std::span<const TensorToWrite> tensors, const Metadata& metadata,
                       const std::function<void(std::span<const std::byte>)>& sink) {
  const std::string header = front(tensors, metadata);
  sink(std::as_bytes(std::span(header)));
  for (const TensorToWrite& tensor : tensors) {
    const uint64_t bytes = tensor_bytes(tensor.shape);
    if (bytes > 0) sink(std::as_bytes(std::span(tensor.data, bytes / sizeof(float))));
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

Safetensors::Safetensors(std::vector<std::byte> bytes, std::string file)
    : file_(std::move(file)), bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {
  expect(bytes_->size() >= kLengthBytes, ErrorKind::file,
         "'{}': it has {} bytes, and a safetensors file has at least {}", file_, bytes_->size(), kLengthBytes);
  uint64_t length = 0;
  std::memcpy(&length, bytes_->data(), sizeof length);
  expect(length <= kMaxSafetensorsHeader, ErrorKind::file,
         "'{}': the header claims {} bytes; at most {} are allowed. This is not a safetensors file", file_, length,
         kMaxSafetensorsHeader);
  expect(length <= bytes_->size() - kLengthBytes, ErrorKind::file,
         "'{}': the header claims {} bytes, but only {} follow; is the file "
         "cut off?",
         file_, length, bytes_->size() - kLengthBytes);
  data_ = kLengthBytes + static_cast<size_t>(length);
  const std::string_view json(reinterpret_cast<const char*>(bytes_->data()) + kLengthBytes, length);
  header_ = parse_safetensors_header(json, bytes_->size() - data_, file_);
  for (size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace(header_.tensors[i].name, i);
}

Safetensors Safetensors::read(const std::filesystem::path& path) { return {read_bytes(path), path.string()}; }

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
  std::vector<float> numbers((tensor.end - tensor.begin) / sizeof(float));
  copy(tensor, numbers);
  return numbers;
}

void Safetensors::copy(const StoredTensor& tensor, std::span<float> into) const {
  expect(into.size_bytes() == tensor.end - tensor.begin, ErrorKind::file,
         "'{}': tensor '{}' has shape {}; there is room for {} numbers", file_, tensor.name, shape_text(tensor.shape),
         into.size());
  if (!into.empty()) std::memcpy(into.data(), bytes_->data() + data_ + tensor.begin, into.size_bytes());
}

}  // namespace heed::file
