#include "heed/text/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/bert_words.h"
#include "heed/text/escape.h"
#include "heed/text/lines_of.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

namespace {

constexpr std::string_view kInside = "##";
constexpr int64_t kMostLongest = 1'000'000;

class WordPiece final : public Tokeniser {
 public:
  WordPiece(std::string_view contents, std::string_view name) : contents_(contents) {
    LinesOf lines(contents, name);
    read_header(lines);
    for (const std::string_view special : kSpecialNames) {
      const std::string_view line = lines.next();
      lines.need(line == special, "must be {}, but is '{}'", special, line);
      tokens_.emplace_back(special);
    }
    while (!lines.done()) {
      const std::string_view line = lines.next();
      add(unescaped(line, lines.where()), lines);
    }
    lines.need(size() >= kSpecials + special_, "{} tokens, but {} are special", size() - kSpecials, special_);
  }

  int32_t size() const override { return static_cast<int32_t>(tokens_.size()); }
  const std::string& kind() const override { return kWordPiece; }
  std::string contents() const override { return contents_; }
  std::string token(int32_t id) const override {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    return spelling(id);
  }

 protected:
  std::vector<int32_t> never_cut() const override {
    std::vector<int32_t> ids;
    for (int32_t id = kSpecials; id < kSpecials + special_; ++id) ids.push_back(id);
    return ids;
  }

  std::vector<int32_t> encode_valid(std::string_view text) const override {
    std::vector<int32_t> ids;
    each_piece(text, [&](int32_t id, std::string_view, bool) { ids.push_back(id); });
    return ids;
  }

  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> all;
    each_piece(text, [&](int32_t, std::string_view piece, bool begins) {
      all.push_back((begins ? " " : "") + std::string(piece));
    });
    return all;
  }

  /// With a blank before each word but the first: what was between them is not known.
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::string text;
    for (const int32_t id : ids) {
      std::string_view piece = spelling(id);
      bool begins = true;
      if (id == kUnknown) {
        piece = unknown.front().empty() ? kUnknownShown : std::string_view(unknown.front());
        if (piece.size() > 1 && piece.starts_with(' ')) piece.remove_prefix(1);
        unknown = unknown.subspan(1);
      } else if (piece.size() > kInside.size() && piece.starts_with(kInside)) {
        piece.remove_prefix(kInside.size());
        begins = false;
      }
      if (begins && !text.empty()) text += ' ';
      text += piece;
    }
    return text;
  }

 private:
  using Pieces = std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>>;

  void read_header(LinesOf& lines) {
    std::string_view line = lines.next();
    lines.need(line.starts_with(kWordPiece), "expected '{}'", kWordPiece);
    line.remove_prefix(kWordPiece.size());
    special_ = static_cast<int32_t>(lines.take_number(line, "special"));
    form_.clean = lines.take_number(line, "clean") != 0;
    form_.lower = lines.take_number(line, "lower") != 0;
    form_.strip = lines.take_number(line, "strip") != 0;
    form_.ideographs = lines.take_number(line, "ideographs") != 0;
    longest_ = lines.take_number(line, "longest");
    lines.need(longest_ > 0 && longest_ <= kMostLongest, "longest={} must be from 1 to {}", longest_, kMostLongest);
    lines.need(line.empty(), "'{}' does not belong there", line);
  }

  void add(std::string token, const LinesOf& lines) {
    lines.need(find_control(token) == std::string::npos, "the token holds a control character");
    if (size() >= kSpecials + special_) {
      const std::string_view all = token;
      const bool inside = all.size() > kInside.size() && all.starts_with(kInside);
      Pieces& pieces = inside ? inside_ : begin_;
      const std::string_view piece = inside ? all.substr(kInside.size()) : all;
      lines.need(pieces.emplace(piece, size()).second, "'{}' is there twice", token);
      longest_piece_ = std::max(longest_piece_, piece.size());
    }
    tokens_.push_back(std::move(token));
  }

  /// visit(id, its text, whether it begins a word): a word without pieces as a whole.
  template <class Visit>
  void each_piece(std::string_view text, const Visit& visit) const {
    const std::string normalised = bert_normalised(text, form_);
    std::vector<std::pair<int32_t, std::string_view>> found;
    each_bert_word(normalised, [&](std::string_view word) {
      found.clear();
      const bool known = utf8_count(word) <= static_cast<size_t>(longest_) && cut_word(word, found);
      if (!known) return visit(kUnknown, word, true);
      for (size_t i = 0; i < found.size(); ++i) visit(found[i].first, found[i].second, i == 0);
    });
  }

  /// Whether there are pieces that make it up.
  bool cut_word(std::string_view word, std::vector<std::pair<int32_t, std::string_view>>& found) const {
    for (size_t at = 0; at < word.size();) {
      const Pieces& pieces = at == 0 ? begin_ : inside_;
      size_t length = std::min(word.size() - at, longest_piece_);
      auto piece = pieces.end();
      for (; length > 0; --length) {
        const bool ends_character = at + length == word.size() || (word[at + length] & 0xC0) != 0x80;
        if (!ends_character) continue;
        piece = pieces.find(word.substr(at, length));
        if (piece != pieces.end()) break;
      }
      if (length == 0) return false;
      found.emplace_back(piece->second, word.substr(at, length));
      at += length;
    }
    return true;
  }

  const std::string& spelling(int32_t id) const { return tokens_[static_cast<size_t>(id)]; }

  std::string contents_;
  BertForm form_;
  int64_t longest_ = 0;
  int32_t special_ = 0;
  size_t longest_piece_ = 0;  // bytes
  std::vector<std::string> tokens_;
  Pieces begin_, inside_;  // of words; without ##
};

}  // namespace

std::string wordpiece_contents(const WordPieceParts& p) {
  std::string text = fmt::format("{} special={} clean={:d} lower={:d} strip={:d} ideographs={:d} longest={}\n",
                                 kWordPiece, p.special.size(), p.clean, p.lower, p.strip, p.ideographs, p.longest);
  for (const std::string_view special : kSpecialNames) text += std::string(special) + "\n";
  for (const std::vector<std::string>* tokens : {&p.special, &p.tokens})
    for (const std::string& token : *tokens) text += escaped(token) + "\n";
  return text;
}

std::shared_ptr<const Tokeniser> parse_wordpiece(std::string_view contents, std::string_view name) {
  return std::make_shared<WordPiece>(contents, name);
}

}  // namespace heed::text
