#include "heed/checkpoint/model_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/json_text.h"
#include "heed/base/part_name.h"
#include "heed/base/sha256.h"
#include "heed/checkpoint/tensor_stream.h"

namespace heed::file {

namespace {

constexpr std::string_view kName = "heed model ";  // and the version
constexpr int kVersion = 1;
constexpr const char *kFormatKey = "format", *kHashKey = "sha256";
constexpr std::string_view kHexSuffix = ".hex";
constexpr size_t kHashDigits = 64;
constexpr size_t kFront = 9;  // the size of the header, and the brace that it begins with

std::string format_text() { return fmt::format("{}{}", kName, kVersion); }

// ----------------------------------------------------------------------------------------------------------------- hex

std::string hex_of(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char byte : bytes) fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::optional<std::string> bytes_of(std::string_view digits) {
  const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (digits.size() % 2 != 0) return {};
  std::string bytes(digits.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = value(digits[2 * i]), low = value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return {};
    bytes[i] = static_cast<char>(16 * high + low);
  }
  return bytes;
}

// ----------------------------------------------------------------------------------------------------------------
// front

using Front = std::array<std::byte, kFront>;

uint64_t header_size(const Front& front) {
  uint64_t length = 0;
  std::memcpy(&length, front.data(), sizeof length);
  return length;
}

/// None where the file does not begin as the format says.
std::optional<Front> front_of(InputFile& file) {
  Front front;
  if (file.size() < front.size()) return {};
  file.read(front);
  const uint64_t header = header_size(front);
  if (header == 0 || header > kMaxSafetensorsHeader || front.back() != std::byte{'{'}) return {};
  return front;
}

// ------------------------------------------------------------------------------------------------------------ the hash

/// The SHA-256 of a file, as it passes, with zeros in place of the one that it names.
class PassingHash {
 public:
  /// The front, up to the end of the header, is kept until settle() knows what to leave out.
  void add(std::span<const std::byte> piece) {
    if (settled_)
      hash_.add(piece);
    else
      front_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  /// `written`: what the header says. A quote inside of a text is escaped, so the key with its quotes stands there
  /// once.
  void settle(std::string_view written, const std::string& path) {
    const std::string entry = fmt::format(R"("{}":"{}")", kHashKey, written);
    const size_t at = front_.find(entry);
    expect(written.size() == kHashDigits && at != front_.npos, ErrorKind::file,
           "'{}' is damaged: its header was changed, or written again by another program", path);
    front_.replace(at + entry.size() - 1 - kHashDigits, kHashDigits, kHashDigits, '0');
    settled_ = true;
    hash_.add(std::as_bytes(std::span(front_)));
    written_ = written;
  }
  void expect_same(const std::string& path) {
    expect(hash_.hex() == written_, ErrorKind::file,
           "'{}' is damaged: its SHA-256 is not that of what was written; copy it again", path);
  }

 private:
  Sha256 hash_;
  std::string front_, written_;
  bool settled_ = false;
};

/// What the header says that the hash is.
std::string written_hash(const Metadata& metadata) {
  const auto hash = metadata.find(kHashKey);
  return hash == metadata.end() ? "" : hash->second;
}

ModelTexts texts_of(const Metadata& metadata, const std::string& path) {
  ModelTexts texts;
  for (const auto& [key, text] : metadata) {
    if (key == kFormatKey || key == kHashKey) continue;
    const bool hex = key.ends_with(kHexSuffix);
    const std::optional<std::string> bytes = hex ? bytes_of(text) : text;
    const std::string name = hex ? key.substr(0, key.size() - kHexSuffix.size()) : key;
    expect(bytes && is_part_name(name) && texts.emplace(name, *bytes).second, ErrorKind::file,
           "'{}': the part '{}' of its metadata cannot be read", path, key);
  }
  return texts;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- writing

void write_model_file(const std::filesystem::path& path, const ModelTexts& texts,
                      std::span<const TensorToWrite> weights) {
  Metadata metadata = {{kFormatKey, format_text()}, {kHashKey, std::string(kHashDigits, '0')}};
  for (const auto& [name, text] : texts) {
    expect(is_part_name(name) && !name.ends_with(kHexSuffix) && name != kFormatKey && name != kHashKey,
           "a part of a model cannot have the name '{}'", name);
    if (json_text(text))
      metadata.emplace(name, text);
    else
      metadata.emplace(name + std::string(kHexSuffix), hex_of(text));
  }
  Sha256 hash;
  write_safetensors(weights, metadata, [&](std::span<const std::byte> piece) { hash.add(piece); });
  metadata[kHashKey] = hash.hex();
  write_safetensors(path, weights, metadata);
}

// ------------------------------------------------------------------------------------------------------------- reading

ModelFile::ModelFile(const std::filesystem::path& path) : name_(path.string()), input_(path) {
  expect(front_of(input_).has_value(), ErrorKind::file,
         "'{}' is no model: a model is the folder of a training, one of its checkpoints, or a file that heed export "
         "wrote",
         name_);
  input_.rewind();
  PassingHash hash;
  TensorStream stream(input_, name_, [&](std::span<const std::byte> piece) { hash.add(piece); });
  const Metadata& metadata = stream.metadata();
  const auto format = metadata.find(kFormatKey);
  expect(format != metadata.end() && format->second.starts_with(kName), ErrorKind::file,
         "'{}' holds tensors, but no model: heed export writes one, with the recipe and the vocabularies in it", name_);
  expect(format->second == format_text(), ErrorKind::file,
         "'{}': the format is '{}', and this version of heed reads '{}'; a newer heed may read it", name_,
         format->second, format_text());
  hash.settle(written_hash(metadata), name_);
  stream.skip_rest();
  hash.expect_same(name_);
  texts_ = texts_of(metadata, name_);
}

Safetensors ModelFile::weights() const {
  input_.rewind();
  std::vector<std::byte> bytes(input_.size());
  input_.read(bytes);
  Safetensors weights(std::move(bytes), name_);
  PassingHash hash;
  const uint64_t numbers = weights.tensors().empty() ? 0 : weights.tensors().back().end;
  const size_t front = weights.bytes().size() - numbers;
  hash.add(weights.bytes().first(front));
  hash.settle(written_hash(weights.metadata()), name_);
  hash.add(weights.bytes().subspan(front));
  hash.expect_same(name_);
  return weights;
}

void ModelFile::load(Parameters& parameters, const Loaded& loaded) const {
  input_.rewind();
  PassingHash hash;
  TensorStream stream(input_, name_, [&](std::span<const std::byte> piece) { hash.add(piece); });
  hash.settle(written_hash(stream.metadata()), name_);
  file::load(stream, parameters, loaded);
  hash.expect_same(name_);
}

bool begins_as_safetensors(const std::filesystem::path& path) {
  try {
    InputFile file(path);
    return front_of(file).has_value();
  } catch (const Error&) {
    return false;
  }
}

bool is_model_file(const std::filesystem::path& path) {
  try {
    InputFile file(path);
    const std::optional<Front> front = front_of(file);
    if (!front) return false;
    const uint64_t there = std::min(header_size(*front), file.size() - sizeof(uint64_t));
    std::string header(there - 1, '\0');  // without the brace
    file.read(std::as_writable_bytes(std::span(header)));
    return header.find(fmt::format(R"("{}":"{})", kFormatKey, kName)) != header.npos;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace heed::file
