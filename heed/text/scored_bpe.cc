#include "heed/text/scored_bpe.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/bytes.h"
#include "heed/text/escape.h"
#include "heed/text/joined.h"
#include "heed/text/lines_of.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

namespace {

constexpr int32_t kNoPiece = -1;

std::string byte_piece(size_t byte) { return fmt::format("<0x{:02X}>", byte); }

/// The score before the first blank of a line, which is removed.
float take_score(std::string_view& line, const LinesOf& lines) {
  const size_t blank = line.find(' ');
  float score = 0.0f;
  const char* end = line.data() + (blank == std::string_view::npos ? 0 : blank);
  const auto [stopped, error] = std::from_chars(line.data(), end, score);
  lines.need(error == std::errc() && stopped == end && std::isfinite(score), "expected a score, a blank and a piece");
  line.remove_prefix(blank + 1);
  return score;
}

class ScoredBpe final : public Tokeniser {
 public:
  ScoredBpe(std::string_view contents, std::string_view name) : contents_(contents) {
    LinesOf lines(contents, name);
    const bool is_one = lines.next() == kScoredBpe;
    lines.need(is_one, "expected '{}'", kScoredBpe);
    for (const std::string_view special : kSpecialNames) {
      const std::string_view line = lines.next();
      lines.need(line == special, "must be {}, but is '{}'", special, line);
      pieces_.push_back({std::string(special), 0.0f});
    }
    while (!lines.done()) {
      std::string_view line = lines.next();
      const float score = take_score(line, lines);
      pieces_.push_back({unescaped(line, lines.where()), score});
    }
    for (int32_t id = kSpecials; id < size(); ++id) ids_.emplace(piece(id), id);
    for (size_t byte = 0; byte < bytes_.size(); ++byte) {
      bytes_[byte] = id_of(byte_piece(byte));
      if (bytes_[byte] != kNoPiece) byte_of_[bytes_[byte]] = static_cast<char>(byte);
    }
  }

  int32_t size() const override { return static_cast<int32_t>(pieces_.size()); }
  const std::string& kind() const override { return kScoredBpe; }
  std::string contents() const override { return contents_; }
  bool holds_line_ends() const override { return true; }

  /// Control characters as their bytes.
  std::string token(int32_t id) const override {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    std::string shown;
    for (const std::string_view character : CodePoints(piece(id)))
      if (find_control(character) == std::string_view::npos)
        shown += character;
      else
        for (const char byte : character) shown += byte_piece(static_cast<unsigned char>(byte));
    return shown;
  }

 protected:
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    if (text.empty()) return {};
    std::vector<int32_t> ids;
    add_character(" ", ids);
    for (const std::string_view character : CodePoints(text)) add_character(character, ids);
    return joined(ids, [this](int32_t left, int32_t right) -> std::optional<Join> {
      if (left == kUnknown || right == kUnknown) return std::nullopt;
      const int32_t id = id_of(piece(left) + piece(right));
      if (id == kNoPiece) return std::nullopt;
      return Join{-static_cast<double>(pieces_[static_cast<size_t>(id)].score), id};
    });
  }

  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> all;
    for (const int32_t id : encode_valid(text)) all.push_back(bytes_of(id));
    return all;
  }

  /// Without the blank that was put before the text.
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
    if (text.starts_with(' ')) text.erase(0, 1);
    return repaired(text);
  }

 private:
  const std::string& piece(int32_t id) const { return pieces_[static_cast<size_t>(id)].piece; }
  int32_t id_of(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? kNoPiece : found->second;
  }
  std::string bytes_of(int32_t id) const {
    const auto byte = byte_of_.find(id);
    return byte == byte_of_.end() ? piece(id) : std::string(1, byte->second);
  }
  /// As its piece, or byte by byte.
  void add_character(std::string_view character, std::vector<int32_t>& ids) const {
    if (const int32_t id = id_of(character); id != kNoPiece) {
      ids.push_back(id);
      return;
    }
    for (const char c : character) {
      const int32_t id = bytes_[static_cast<unsigned char>(c)];
      ids.push_back(id == kNoPiece ? kUnknown : id);
    }
  }

  std::string contents_;
  std::vector<ScoredPiece> pieces_;
  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>>
      ids_;  // of a piece that is there twice: the first
  std::array<int32_t, 256> bytes_{};
  std::unordered_map<int32_t, char> byte_of_;
};

}  // namespace

std::string scored_bpe_contents(const std::vector<ScoredPiece>& pieces) {
  std::string text = kScoredBpe + "\n";
  for (const std::string_view special : kSpecialNames) text += std::string(special) + "\n";
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ScoredPiece& each = pieces[i];
    expect(!each.piece.empty() && utf8_fault(each.piece) == std::string_view::npos, ErrorKind::file, "piece {} is {}",
           static_cast<int64_t>(i) + kSpecials, each.piece.empty() ? "empty" : "not valid UTF-8");
    text += fmt::format("{} {}\n", each.score, escaped(each.piece));
  }
  return text;
}

std::shared_ptr<const Tokeniser> parse_scored_bpe(std::string_view contents, std::string_view name) {
  return std::make_shared<ScoredBpe>(contents, name);
}

}  // namespace heed::text
