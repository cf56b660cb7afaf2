// The header of a safetensors file: JSON event by event, so that duplicate names are noticed.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"

namespace heed::file {

namespace {

constexpr std::string_view kMetadata = "__metadata__";

/// The types of the format.
constexpr std::array<std::string_view, 22> kTypes = {
    "F32",  "BOOL", "U8",  "I8", "U16",     "I16",     "U32",     "I32",     "U64",     "I64",         "F16",
    "BF16", "F64",  "C64", "F4", "F6_E2M3", "F6_E3M2", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};

struct ReadType {
  const char* name;
  Dtype type;
};
/// Those that are read and written.
constexpr ReadType kReadTypes[] = {
    {"F64", Dtype::f64}, {"F32", Dtype::f32}, {"F16", Dtype::f16}, {"BF16", Dtype::bf16}, {"I8", Dtype::i8}};

std::optional<Dtype> type_of(std::string_view name) {
  for (const ReadType& each : kReadTypes)
    if (name == each.name) return each.type;
  return {};
}

/// Bytes of a whole number.
uint64_t whole_number_bytes(std::string_view type) {
  for (const auto& [name, bytes] :
       {std::pair("BOOL", 1), std::pair("U8", 1), std::pair("I8", 1), std::pair("U16", 2), std::pair("I16", 2),
        std::pair("U32", 4), std::pair("I32", 4), std::pair("U64", 8), std::pair("I64", 8)})
    if (type == name) return static_cast<uint64_t>(bytes);
  return 0;
}

/// Text from a file, fit for a message: short, without control characters.
std::string printable(std::string_view text) {
  size_t end = std::min<size_t>(text.size(), 100);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // whole letters
  std::string clean;
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return end < text.size() ? clean + "..." : clean;
}

/// A tensor while its object is read.
struct Draft {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape, offsets;
};

/// Follows the events of the parser; false stops it, with the reason in `problem`.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Draft> drafts;
  Metadata metadata;
  std::string problem;

  bool start_object(size_t) override {
    switch (place_) {
      case Place::outside:
        place_ = Place::header;
        return true;
      case Place::header:
        if (in_metadata_) {
          place_ = Place::metadata;
        } else {
          place_ = Place::tensor;
          drafts.push_back({.name = key_, .dtype = {}, .shape = {}, .offsets = {}});
        }
        return true;
      default:
        return unexpected("an object");
    }
  }
  bool end_object() override {
    if (place_ == Place::tensor) {
      const Draft& t = drafts.back();
      const char* missing = !t.dtype ? "dtype" : !t.shape ? "shape" : !t.offsets ? "data_offsets" : nullptr;
      if (missing) return stop("tensor '{}': '{}' is missing", printable(t.name), missing);
    }
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return true;
  }
  bool key(std::string& name) override {
    if (place_ == Place::header) {
      if (!names_.insert(name).second) return stop("the name '{}' appears twice", printable(name));
      in_metadata_ = name == kMetadata;
    } else if (place_ == Place::metadata) {
      if (metadata.count(name)) return stop("__metadata__: the name '{}' appears twice", printable(name));
    } else {
      const Draft& t = drafts.back();
      if (name != "dtype" && name != "shape" && name != "data_offsets")
        return stop("tensor '{}': unknown field '{}'; the fields are dtype, shape and data_offsets", printable(t.name),
                    printable(name));
      if ((name == "dtype" && t.dtype) || (name == "shape" && t.shape) || (name == "data_offsets" && t.offsets))
        return stop("tensor '{}': '{}' appears twice", printable(t.name), name);
    }
    key_ = name;
    return true;
  }
  bool string(std::string& text) override {
    if (place_ == Place::metadata) {
      metadata.emplace(key_, text);
      return true;
    }
    if (place_ == Place::tensor && key_ == "dtype") {
      drafts.back().dtype = text;
      return true;
    }
    return unexpected(fmt::format("the text '{}'", printable(text)));
  }
  bool start_array(size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") return unexpected("a list");
    place_ = Place::list;
    (key_ == "shape" ? drafts.back().shape : drafts.back().offsets).emplace();
    return true;
  }
  bool end_array() override {
    place_ = Place::tensor;
    if (key_ == "data_offsets" && drafts.back().offsets->size() != 2)
      return stop("tensor '{}': data_offsets must be two numbers, not {}", printable(drafts.back().name),
                  drafts.back().offsets->size());
    return true;
  }
  bool number_unsigned(uint64_t number) override {
    if (place_ != Place::list) return unexpected(fmt::format("the number {}", number));
    Draft& t = drafts.back();
    auto& list = key_ == "shape" ? *t.shape : *t.offsets;
    list.push_back(number);
    const size_t most = key_ == "shape" ? kMaxTensorRank : 2;
    if (list.size() > most) return stop("tensor '{}': {} must have at most {} numbers", printable(t.name), key_, most);
    return true;
  }
  bool number_integer(int64_t number) override {
    return unexpected(number == 0 ? "the number -0" : fmt::format("the number {}", number));
  }
  bool number_float(double, const std::string& text) override {
    return unexpected(fmt::format("the number {}", printable(text)));
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool binary(nlohmann::json::binary_t&) override { return unexpected("bytes"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    return stop("the header is not valid JSON from byte {}", position);
  }

 private:
  enum class Place { outside, header, metadata, tensor, list };

  template <class... Args>
  bool stop(fmt::format_string<Args...> message, Args&&... args) {
    problem = fmt::format(message, std::forward<Args>(args)...);
    return false;
  }
  bool unexpected(const std::string& what) {
    switch (place_) {
      case Place::outside:
        return stop("the header must be an object, not {}", what);
      case Place::header:
        return in_metadata_ ? stop("__metadata__ must be an object of texts, not {}", what)
                            : stop("tensor '{}': it must be an object, not {}", printable(key_), what);
      case Place::metadata:
        return stop("__metadata__: '{}' must be a text, not {}", printable(key_), what);
      case Place::tensor:
        return stop("tensor '{}': {} must be {}, not {}", printable(drafts.back().name), key_,
                    key_ == "dtype" ? "a text" : "a list of numbers", what);
      default:
        return stop("tensor '{}': {} must hold whole numbers from 0 to 2^64 - 1, not {}", printable(drafts.back().name),
                    key_, what);
    }
  }

  Place place_ = Place::outside;
  bool in_metadata_ = false;
  std::string key_;
  std::set<std::string> names_;
};

/// What a draft means, or what is wrong with it.
StoredTensor checked(const Draft& draft, uint64_t data_size, std::string_view file, WholeNumbers whole) {
  const std::string name = printable(draft.name);
  const std::optional<Dtype> dtype = type_of(*draft.dtype);
  const uint64_t of_whole = whole == WholeNumbers::listed ? whole_number_bytes(*draft.dtype) : 0;
  expect(dtype.has_value() || of_whole > 0, ErrorKind::file,
         "'{}': tensor '{}' has type {}; only F64, F32, F16 and BF16 are supported{}", file, name,
         printable(*draft.dtype),
         std::find(kTypes.begin(), kTypes.end(), *draft.dtype) == kTypes.end() ? ", and no such type is known" : "");
  StoredTensor tensor{
      draft.name, {}, (*draft.offsets)[0], (*draft.offsets)[1], dtype.value_or(Dtype::f32), dtype ? "" : *draft.dtype};
  for (const uint64_t extent : *draft.shape) {
    expect(extent <= static_cast<uint64_t>(INT64_MAX), ErrorKind::file,
           "'{}': tensor '{}': the dimension {} of its shape is too large", file, name, extent);
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  const std::string problem = shape_problem(tensor.shape);
  expect(problem.empty(), ErrorKind::file, "'{}': tensor '{}': {}", file, name, problem);
  const uint64_t bytes = dtype ? tensor_bytes(tensor.shape, *dtype)
                               : tensor_bytes(tensor.shape, Dtype::f32) / bytes_of(Dtype::f32) * of_whole;
  expect(tensor.begin <= tensor.end, ErrorKind::file,
         "'{}': tensor '{}': data_offsets end at {}, before they start at {}", file, name, tensor.end, tensor.begin);
  expect(tensor.end <= data_size, ErrorKind::file,
         "'{}': tensor '{}' ends at byte {} of the data, but there are {}; is "
         "the file cut off?",
         file, name, tensor.end, data_size);
  expect(tensor.end - tensor.begin == bytes, ErrorKind::file,
         "'{}': tensor '{}' of shape {} needs {} bytes, but its data_offsets "
         "hold {}",
         file, name, shape_text(tensor.shape), bytes, tensor.end - tensor.begin);
  return tensor;
}

/// Every matrix of int8 as one tensor with the scales that stand before it.
std::vector<StoredTensor> with_scales(std::vector<StoredTensor> tensors, std::string_view file) {
  std::vector<StoredTensor> all;
  for (StoredTensor& tensor : tensors) {
    if (tensor.dtype == Dtype::i8) {
      const std::string name = printable(tensor.name);
      expect(!all.empty() && all.back().name == scales_of(tensor.name), ErrorKind::file,
             "'{}': tensor '{}' has type I8; only F64, F32, F16 and BF16 are supported, and I8 where its scales stand "
             "just before it, as '{}'",
             file, name, printable(scales_of(tensor.name)));
      const StoredTensor& scales = all.back();
      const auto is = [&](int64_t rows, int64_t cols) { return scales.shape == std::vector<int64_t>{rows, cols}; };
      expect(
          scales.dtype == Dtype::f32 && tensor.shape.size() == 2 && (is(tensor.shape[0], 1) || is(1, tensor.shape[1])),
          ErrorKind::file, "'{}': the scales of tensor '{}' must be F32, one for each row or column of {}, not {} {}",
          file, name, shape_text(tensor.shape), safetensors_name(scales.dtype), shape_text(scales.shape));
      tensor.scales = scales.shape;
      tensor.begin = scales.begin;
      all.pop_back();
    }
    all.push_back(std::move(tensor));
  }
  return all;
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string shape_problem(std::span<const int64_t> shape) {
  if (shape.size() > kMaxTensorRank)
    return fmt::format("the shape {} has {} dimensions; at most {} are allowed", shape_text(shape), shape.size(),
                       kMaxTensorRank);
  // Without dimensions of 0: their tensor has no bytes, but other readers multiply the dimensions in another order.
  int64_t bytes = sizeof(double);  // of the largest type
  for (const int64_t extent : shape) {
    if (extent < 0) return fmt::format("the shape {} has a negative dimension", shape_text(shape));
    if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes))
      return fmt::format("the shape {} is too large for any memory", shape_text(shape));
  }
  return "";
}

std::string scales_of(std::string_view name) { return std::string(name) + ".scale"; }

const char* safetensors_name(Dtype dtype) {
  for (const ReadType& each : kReadTypes)
    if (each.type == dtype) return each.name;
  return "";
}

uint64_t tensor_bytes(std::span<const int64_t> shape, Dtype dtype) {
  uint64_t bytes = bytes_of(dtype);
  for (const int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_size, std::string_view file,
                                           WholeNumbers whole) {
  expect(!json.empty() && json.front() == '{', ErrorKind::file,
         "'{}': the header must start with '{{'; this is not a safetensors file", file);
  // The parser would take it for the end, whatever came after it.
  expect(json.find('\0') == json.npos, ErrorKind::file, "'{}': the header has a zero byte at {}", file,
         json.find('\0') + 1);
  HeaderReader reader;
  const bool good = nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  expect(good, ErrorKind::file, "'{}': {}", file, reader.problem);

  SafetensorsHeader header;
  header.metadata = std::move(reader.metadata);
  for (const Draft& draft : reader.drafts) header.tensors.push_back(checked(draft, data_size, file, whole));
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });

  // Every byte belongs to exactly one tensor.
  uint64_t end = 0;
  const StoredTensor* before = nullptr;
  for (const StoredTensor& tensor : header.tensors) {
    expect(tensor.begin >= end, ErrorKind::file,
           "'{}': tensor '{}' starts at byte {}, inside tensor '{}', which ends at {}", file, printable(tensor.name),
           tensor.begin, before ? printable(before->name) : "", end);
    expect(tensor.begin == end, ErrorKind::file, "'{}': no tensor covers the bytes from {} to {}, before tensor '{}'",
           file, end, tensor.begin, printable(tensor.name));
    end = tensor.end;
    before = &tensor;
  }
  expect(end == data_size, ErrorKind::file, "'{}': {} bytes follow the last tensor", file, data_size - end);
  header.tensors = with_scales(std::move(header.tensors), file);
  return header;
}

}  // namespace heed::file
