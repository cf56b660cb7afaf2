#include "heed/imports/llama2c_file.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "heed/base/dtype.h"
#include "heed/base/error.h"
#include "heed/imports/bytes_reader.h"
#include "heed/text/utf8.h"

namespace heed::imports {

namespace {

constexpr size_t kHeader = 28;
constexpr int32_t kMost = 1 << 24;  // of any size in the header
constexpr int32_t kMostLayers = 1000;

/// One entry of the file, for all layers or once.
struct Entry {
  const char* name;
  Shape shape;
  bool of_layers;
};

std::optional<Llama2cSizes> sizes_of(std::span<const std::byte> header) {
  if (header.size() < kHeader) return std::nullopt;
  BytesReader from(header, "");
  Llama2cSizes s{};
  for (int32_t* field : {&s.width, &s.hidden, &s.layers, &s.heads, &s.kv_heads, &s.tokens, &s.longest})
    *field = from.number<int32_t>("");
  s.own_output = s.tokens < 0;
  if (s.tokens == INT32_MIN) return std::nullopt;
  if (s.own_output) s.tokens = -s.tokens;
  for (const int32_t field : {s.width, s.hidden, s.layers, s.heads, s.kv_heads, s.tokens, s.longest})
    if (field <= 0 || field > kMost) return std::nullopt;
  const bool fits =
      s.layers <= kMostLayers && s.width % s.heads == 0 && s.heads % s.kv_heads == 0 && s.width / s.heads % 2 == 0;
  return fits ? std::optional(s) : std::nullopt;
}

std::vector<Entry> entries_of(const Llama2cSizes& s) {
  const int64_t width = s.width, hidden = s.hidden, head = s.width / s.heads, keys = head * s.kv_heads;
  std::vector<Entry> all = {{"token_embedding", {s.tokens, width}, false},
                            {"rms_att", {width}, true},
                            {"wq", {width, width}, true},
                            {"wk", {keys, width}, true},
                            {"wv", {keys, width}, true},
                            {"wo", {width, width}, true},
                            {"rms_ffn", {width}, true},
                            {"w1", {hidden, width}, true},
                            {"w2", {width, hidden}, true},
                            {"w3", {hidden, width}, true},
                            {"rms_final", {width}, false},
                            {"freq_cis_real", {s.longest, head / 2}, false},
                            {"freq_cis_imag", {s.longest, head / 2}, false}};
  if (s.own_output) all.push_back({"wcls", {s.tokens, width}, false});
  return all;
}

/// Cannot overflow: each size is at most 2^24, and a shape has two.
uint64_t bytes_of(const Shape& shape) {
  uint64_t bytes = 4;
  for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

uint64_t file_size(const Llama2cSizes& s) {
  uint64_t bytes = kHeader;
  for (const Entry& e : entries_of(s)) bytes += bytes_of(e.shape) * static_cast<uint64_t>(e.of_layers ? s.layers : 1);
  return bytes;
}

}  // namespace

bool is_llama2c(std::span<const std::byte> header, uint64_t size) {
  const auto sizes = sizes_of(header);
  return sizes && file_size(*sizes) == size;
}

Llama2cFile parse_llama2c(std::shared_ptr<const std::vector<std::byte>> bytes, const std::string& file) {
  const auto sizes = sizes_of(*bytes);
  expect(sizes.has_value(), ErrorKind::file, "'{}' does not begin with the sizes of a model of llama2.c", file);
  expect(file_size(*sizes) == bytes->size(), ErrorKind::file,
         "'{}' has {} bytes, but a model of llama2.c with the sizes that it begins with has {}", file, bytes->size(),
         file_size(*sizes));
  Llama2cFile parsed{*sizes, ForeignTensors(file)};
  BytesReader from(*bytes, file);
  from.take(kHeader, "the header");
  for (const Entry& e : entries_of(*sizes))
    for (int32_t layer = 0; layer < (e.of_layers ? sizes->layers : 1); ++layer) {
      const auto raw = from.take(bytes_of(e.shape), e.name);
      const auto numbers = [bytes, raw] {
        std::vector<float> read(raw.size() / sizeof(float));
        read_numbers(Dtype::f32, raw, read);
        return read;
      };
      parsed.tensors.add(e.of_layers ? fmt::format("{}.{}", e.name, layer) : e.name, {e.shape, numbers});
    }
  return parsed;
}

std::vector<text::ScoredPiece> parse_llama2c_pieces(std::span<const std::byte> bytes, const std::string& file) {
  BytesReader from(bytes, file);
  const int64_t longest = from.number<int32_t>("the longest piece");
  std::vector<text::ScoredPiece> pieces;
  while (from.left() > 0) {
    const auto score = from.number<float>("a score");
    const auto length = from.number<int32_t>("the length of a piece");
    expect(length >= 0 && length <= longest + 64, ErrorKind::file, "'{}': piece {} has {} bytes, the longest {}", file,
           pieces.size(), length, longest);
    std::string piece = from.text(static_cast<uint64_t>(length), "a piece");
    expect(text::utf8_fault(piece) == std::string_view::npos, ErrorKind::file, "'{}': piece {} is not valid UTF-8",
           file, pieces.size());
    pieces.push_back({std::move(piece), score});
  }
  return pieces;
}

}  // namespace heed::imports
