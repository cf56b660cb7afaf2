#include "heed/text/byte_bpe.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/text/bytes.h"
#include "heed/text/escape.h"
#include "heed/text/joined.h"
#include "heed/text/lines_of.h"
#include "heed/text/split_words.h"
#include "heed/text/unicode_form.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

namespace {

std::string utf8_of(int code) {  // below U+0800
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

/// The sign of each byte: itself where Latin-1 can be seen, and the others in their order from U+0100 on.
std::array<std::string, 256> make_alphabet() {
  std::array<std::string, 256> signs;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool seen = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    signs[static_cast<size_t>(byte)] = utf8_of(seen ? byte : next++);
  }
  return signs;
}

const std::array<std::string, 256>& alphabet() {
  static const std::array<std::string, 256> signs = make_alphabet();
  return signs;
}

/// The byte of a sign.
std::optional<char> byte_of(std::string_view sign) {
  static const auto bytes = [] {
    std::unordered_map<std::string, char, StringHash, std::equal_to<>> all;
    for (size_t byte = 0; byte < 256; ++byte) all.emplace(alphabet()[byte], static_cast<char>(byte));
    return all;
  }();
  const auto found = bytes.find(sign);
  if (found == bytes.end()) return std::nullopt;
  return found->second;
}

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class ByteBpe final : public Tokeniser {
 public:
  ByteBpe(std::string_view contents, std::string_view name) : contents_(contents) {
    LinesOf lines(contents, name);
    read_header(lines);
    read_tokens(lines);
    for (size_t byte = 0; byte < 256; ++byte) {
      const auto found = ids_.find(alphabet()[byte]);
      expect(found != ids_.end(), ErrorKind::file, "{}: no token is '{}', the byte {}", name, alphabet()[byte], byte);
      bytes_[byte] = found->second;
    }
    for (int64_t rank = 0; !lines.done(); ++rank) read_merge(lines, static_cast<double>(rank));
  }

  int32_t size() const override { return static_cast<int32_t>(tokens_.size()); }
  const std::string& kind() const override { return kByteBpe; }
  std::string contents() const override { return contents_; }
  bool holds_line_ends() const override { return true; }
  std::string token(int32_t id) const override {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    return spelling(id);
  }

 protected:
  bool holds_blank_before() const override { return true; }
  std::vector<int32_t> never_cut() const override {
    std::vector<int32_t> ids = {kUnknown};
    for (int32_t id = kSpecials; id < kSpecials + special_; ++id) ids.push_back(id);
    return ids;
  }

  std::vector<int32_t> encode_valid(std::string_view given) const override {
    const std::string form = nfc_ ? composed(given) : std::string(given);
    const std::string text = prefix_ && !form.empty() && !form.starts_with(' ') ? " " + form : form;
    std::vector<int32_t> ids;
    split_words(text, words_, [&](std::string_view word) { add_word(word, ids); });
    return ids;
  }

  /// A token that ends inside a character is no text by itself: its bytes show as they are.
  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> all;
    for (const int32_t id : encode_valid(text)) all.push_back(bytes_of(id));
    return all;
  }

  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (id != kUnknown) {
        text += bytes_of(id);
        continue;
      }
      text += unknown.front().empty() ? kUnknownShown : std::string_view(unknown.front());
      unknown = unknown.subspan(1);
    }
    return repaired(text);
  }

 private:
  void read_header(LinesOf& lines) {
    std::string_view line = lines.next();
    lines.need(line.starts_with(kByteBpe + " "), "expected '{}'", kByteBpe);
    line.remove_prefix(kByteBpe.size() + 1);
    const std::string_view words = line.substr(0, line.find(' '));
    lines.need(has_word(kWordPatterns, words), "there is no way '{}' to cut words", words);
    words_ = value_of(kWordPatterns, words);
    line.remove_prefix(words.size());
    special_ = lines.take_number(line, "special");
    prefix_ = lines.take_number(line, "prefix") != 0;
    whole_ = lines.take_number(line, "whole") != 0;
    nfc_ = lines.take_number(line, "nfc") != 0;
    lines.need(line.empty(), "'{}' does not belong there", line);
  }

  void read_tokens(LinesOf& lines) {
    for (const std::string_view special : kSpecialNames) {
      const std::string_view line = lines.next();
      lines.need(line == special, "must be {}, but is '{}'", special, line);
      tokens_.emplace_back(special);
    }
    for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
      std::string token = unescaped(line, lines.where());
      lines.need(find_control(token) == std::string::npos, "the token holds a control character");
      if (size() >= kSpecials + special_) {
        for (const std::string_view sign : CodePoints(token))
          lines.need(byte_of(sign).has_value(), "'{}' in '{}' stands for no byte", sign, token);
        lines.need(ids_.emplace(token, size()).second, "'{}' is there twice", token);
      }
      tokens_.push_back(std::move(token));
    }
    lines.need(size() >= kSpecials + special_, "{} tokens, but {} are special", size() - kSpecials, special_);
  }

  void read_merge(LinesOf& lines, double rank) {
    const std::string_view line = lines.next();
    const size_t blank = line.find(' ');
    lines.need(blank != std::string_view::npos, "expected two tokens with a blank between");
    const std::string_view left = line.substr(0, blank), right = line.substr(blank + 1);
    const auto id = [&](std::string_view token) {
      const auto found = ids_.find(token);
      lines.need(found != ids_.end(), "there is no token '{}'", token);
      return found->second;
    };
    const uint64_t pair = pair_of(id(left), id(right));
    merges_.emplace(pair, Join{rank, id(std::string(left) + std::string(right))});
  }

  void add_word(std::string_view word, std::vector<int32_t>& ids) const {
    if (whole_) {
      std::string spelled;
      for (const char c : word) spelled += alphabet()[static_cast<unsigned char>(c)];
      if (const auto found = ids_.find(spelled); found != ids_.end()) {
        ids.push_back(found->second);
        return;
      }
    }
    std::vector<int32_t> pieces;
    for (const char c : word) pieces.push_back(bytes_[static_cast<unsigned char>(c)]);
    const std::vector<int32_t> made = joined(pieces, [this](int32_t left, int32_t right) -> std::optional<Join> {
      const auto found = merges_.find(pair_of(left, right));
      if (found == merges_.end()) return std::nullopt;
      return found->second;
    });
    ids.insert(ids.end(), made.begin(), made.end());
  }

  const std::string& spelling(int32_t id) const { return tokens_[static_cast<size_t>(id)]; }
  std::string bytes_of(int32_t id) const {
    if (id < kSpecials + special_) return spelling(id);
    std::string bytes;
    for (const std::string_view sign : CodePoints(spelling(id))) bytes += *byte_of(sign);
    return bytes;
  }

  std::string contents_;
  WordPattern words_{};
  int32_t special_ = 0;
  bool prefix_ = false, whole_ = false, nfc_ = false;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>> ids_;  // of those that texts are cut into
  std::array<int32_t, 256> bytes_{};
  std::unordered_map<uint64_t, Join> merges_;
};

}  // namespace

std::string byte_bpe_contents(const ByteBpeParts& p) {
  std::string text = fmt::format("{} {} special={} prefix={:d} whole={:d} nfc={:d}\n", kByteBpe, p.words,
                                 p.special.size(), p.prefix, p.whole, p.nfc);
  for (const std::string_view special : kSpecialNames) text += std::string(special) + "\n";
  for (const std::vector<std::string>* tokens : {&p.special, &p.tokens})
    for (const std::string& token : *tokens) text += escaped(token) + "\n";
  text += "\n";
  for (const auto& [left, right] : p.merges) text += left + " " + right + "\n";
  return text;
}

std::shared_ptr<const Tokeniser> parse_byte_bpe(std::string_view contents, std::string_view name) {
  return std::make_shared<ByteBpe>(contents, name);
}

}  // namespace heed::text
