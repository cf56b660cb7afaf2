#include "heed/imports/ctranslate2_file.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "heed/base/dtype.h"
#include "heed/base/error.h"
#include "heed/imports/bytes_reader.h"
#include "heed/text/utf8.h"

namespace heed::imports {

namespace {

enum class Type : uint8_t { f32, i8, i16, i32, f16, bf16 };
constexpr uint64_t kBytes[] = {4, 1, 2, 4, 2, 2};
constexpr uint32_t kOldest = 2, kNewest = 6, kFirstWithAliases = 3, kFirstWithTypes = 4;
constexpr uint8_t kMostDimensions = 8;

struct Raw {
  Type type;
  Shape shape;
  std::span<const std::byte> bytes;
};

template <class Number>
std::vector<float> widened(std::span<const std::byte> bytes) {
  std::vector<float> numbers;
  numbers.reserve(bytes.size() / sizeof(Number));
  for (size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    Number value;
    std::memcpy(&value, bytes.data() + at, sizeof(Number));
    numbers.push_back(static_cast<float>(value));
  }
  return numbers;
}

std::vector<float> numbers_of(const Raw& raw) {
  switch (raw.type) {
    case Type::i8:
      return widened<int8_t>(raw.bytes);
    case Type::i16:
      return widened<int16_t>(raw.bytes);
    case Type::i32:
      return widened<int32_t>(raw.bytes);
    case Type::f32:
    case Type::f16:
    case Type::bf16:
      break;
  }
  const Dtype type = raw.type == Type::f32 ? Dtype::f32 : raw.type == Type::f16 ? Dtype::f16 : Dtype::bf16;
  std::vector<float> numbers(raw.bytes.size() / bytes_of(type));
  read_numbers(type, raw.bytes, numbers);
  return numbers;
}

std::string read_name(BytesReader& from, const char* what, std::string_view file) {
  const auto length = from.number<uint16_t>(what);
  std::string name = from.text(length, what);
  const bool ends = !name.empty() && name.back() == '\0';
  expect(ends, ErrorKind::file, "'{}' is damaged: {} at byte {} does not end with a NUL", file, what, from.at());
  name.pop_back();
  const bool readable =
      text::utf8_fault(name) == std::string_view::npos && text::find_control(name) == std::string::npos;
  expect(readable, ErrorKind::file, "'{}' is damaged: {} at byte {} is not a name", file, what, from.at());
  return name;
}

Type type_of_size(uint8_t size, const std::string& name, std::string_view file) {
  expect(size == 1 || size == 2 || size == 4, ErrorKind::file, "'{}': the numbers of '{}' have {} bytes", file, name,
         size);
  return size == 1 ? Type::i8 : size == 2 ? Type::i16 : Type::f32;
}

Raw read_tensor(BytesReader& from, uint32_t version, const std::string& name, std::string_view file) {
  Raw raw;
  const auto rank = from.number<uint8_t>("the rank of a tensor");
  expect(rank <= kMostDimensions, ErrorKind::file, "'{}': '{}' has {} dimensions", file, name, rank);
  uint64_t count = 1;
  for (uint8_t d = 0; d < rank; ++d) {
    raw.shape.push_back(from.number<uint32_t>("a dimension"));
    const auto size = static_cast<uint64_t>(raw.shape.back());
    expect(size == 0 || count <= (uint64_t{1} << 40) / size, ErrorKind::file, "'{}': '{}' is too large", file, name);
    count *= size;
  }
  uint64_t bytes = 0;
  if (version < kFirstWithTypes) {
    const auto size = from.number<uint8_t>("the size of a number");
    raw.type = type_of_size(size, name, file);
    bytes = uint64_t{from.number<uint32_t>("the number of numbers")} * size;
  } else {
    const auto type = from.number<uint8_t>("the type of a tensor");
    expect(type < std::size(kBytes), ErrorKind::file, "'{}': '{}' has numbers of the unknown type {}", file, name,
           type);
    raw.type = static_cast<Type>(type);
    bytes = from.number<uint32_t>("the size of a tensor");
  }
  expect(bytes == count * kBytes[static_cast<size_t>(raw.type)], ErrorKind::file,
         "'{}': '{}' is {}, which does not fit {} bytes", file, name, text_of(raw.shape), bytes);
  raw.bytes = from.take(bytes, "'" + name + "'");
  return raw;
}

/// The scale of a tensor of whole numbers: one for all, or one for each row.
void expect_scale(const std::string& name, const Raw& raw, const Raw& scale, std::string_view file) {
  const bool fits = scale.type == Type::f32 && (scale.shape.empty() || scale.shape == Shape{1} ||
                                                (!raw.shape.empty() && scale.shape == Shape{raw.shape[0]}));
  expect(fits, ErrorKind::file, "'{}': '{}_scale' does not fit '{}': one is {}, the other {}", file, name, name,
         text_of(scale.shape), text_of(raw.shape));
}

std::vector<float> unscaled(const Raw& raw, const Raw& scale) {
  std::vector<float> numbers = numbers_of(raw);
  const std::vector<float> scales = numbers_of(scale);
  const size_t of_each = scales.empty() ? 1 : numbers.size() / scales.size();
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] /= scales[i / of_each];
  return numbers;
}

}  // namespace

CTranslate2File parse_ctranslate2(std::shared_ptr<const std::vector<std::byte>> bytes, const std::string& file) {
  BytesReader from(*bytes, file);
  CTranslate2File parsed;
  parsed.tensors = ForeignTensors(file);
  parsed.version = from.number<uint32_t>("the version");
  expect(parsed.version >= kOldest && parsed.version <= kNewest, ErrorKind::file,
         "'{}' has version {} of CTranslate2's format, or is another file; {} to {} can be read", file, parsed.version,
         kOldest, kNewest);
  parsed.spec = read_name(from, "the name of the architecture", file);
  parsed.revision = from.number<uint32_t>("the revision");
  const auto count = from.number<uint32_t>("the number of tensors");
  std::map<std::string, Raw> all;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = read_name(from, "the name of a tensor", file);
    const bool is_new = all.emplace(name, read_tensor(from, parsed.version, name, file)).second;
    expect(is_new, ErrorKind::file, "'{}' has two tensors '{}'", file, name);
  }
  if (parsed.version >= kFirstWithAliases) {
    const auto aliases = from.number<uint32_t>("the number of aliases");
    for (uint32_t i = 0; i < aliases; ++i) {
      const std::string alias = read_name(from, "an alias", file), of = read_name(from, "an alias", file);
      const auto found = all.find(of);
      expect(found != all.end(), ErrorKind::file, "'{}': '{}' is an alias of '{}', which is not there", file, alias,
             of);
      const bool is_new = all.emplace(alias, Raw(found->second)).second;
      expect(is_new, ErrorKind::file, "'{}' has two tensors '{}'", file, alias);
    }
  }
  expect(from.left() == 0, ErrorKind::file, "'{}' is damaged: {} bytes follow its end", file, from.left());
  for (const auto& [name, raw] : all) {
    const auto scale = all.find(name + "_scale");
    const bool whole = raw.type == Type::i8 || raw.type == Type::i16;
    if (name.ends_with("_scale") && all.contains(name.substr(0, name.size() - std::string_view("_scale").size())))
      continue;
    if (whole && scale != all.end()) {
      expect_scale(name, raw, scale->second, file);
      parsed.tensors.add(name, {raw.shape, [bytes, one = raw, other = scale->second] { return unscaled(one, other); }});
    } else {
      parsed.tensors.add(name, {raw.shape, [bytes, one = raw] { return numbers_of(one); }});
    }
  }
  return parsed;
}

}  // namespace heed::imports
