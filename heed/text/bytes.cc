#include "heed/text/bytes.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::text {

namespace {

constexpr std::string_view kContents = "bytes\n";
constexpr int32_t kCount = 256;

class Bytes final : public Tokeniser {
 public:
  int32_t size() const override { return kSpecials + kCount; }
  /// A printable ASCII character as it is, any other byte as <0xE4>.
  std::string token(int32_t id) const override {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    if (id < kSpecials) return std::string(kSpecialNames[static_cast<size_t>(id)]);
    const int32_t byte = id - kSpecials;
    return byte > 0x20 && byte < 0x7F ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte);
  }
  const std::string& kind() const override { return kBytes; }
  std::string contents() const override { return std::string(kContents); }

 protected:
  /// Nothing is unknown, and some bytes are in no UTF-8: 0xC0, 0xC1, and those from 0xF5 on.
  std::vector<int32_t> never_cut() const override {
    std::vector<int32_t> ids = {kUnknown};
    for (int32_t byte = 0; byte < kCount; ++byte)
      if (byte == 0xC0 || byte == 0xC1 || byte >= 0xF5) ids.push_back(kSpecials + byte);
    return ids;
  }
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    std::vector<int32_t> ids;
    ids.reserve(text.size());
    for (const char c : text) ids.push_back(kSpecials + static_cast<unsigned char>(c));
    return ids;
  }
  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> all;
    for (const char c : text) all.emplace_back(1, c);
    return all;
  }
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (id != kUnknown) {
        text += static_cast<char>(id - kSpecials);
        continue;
      }
      text += unknown.front().empty() ? kUnknownShown : std::string_view(unknown.front());
      unknown = unknown.subspan(1);
    }
    return repaired(text);
  }
};

}  // namespace

std::string repaired(std::string_view text) {
  constexpr std::string_view kReplacement = "\uFFFD";
  std::string valid;
  while (!text.empty()) {
    const size_t fault = utf8_fault(text);
    valid += text.substr(0, fault);
    if (fault == std::string_view::npos) break;
    valid += kReplacement;
    text.remove_prefix(fault + 1);
  }
  return valid;
}

std::shared_ptr<const Tokeniser> bytes_tokeniser() { return std::make_shared<Bytes>(); }

std::shared_ptr<const Tokeniser> parse_bytes(std::string_view contents, std::string_view name) {
  expect(contents == kContents, ErrorKind::file, "'{}' should hold the word bytes alone: it was changed or is damaged",
         name);
  return bytes_tokeniser();
}

}  // namespace heed::text
