#include "heed/text/tokeniser.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/list.h"
#include "heed/text/byte_bpe.h"
#include "heed/text/bytes.h"
#include "heed/text/file.h"
#include "heed/text/scored_bpe.h"
#include "heed/text/segments.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/unicode_form.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"
#include "heed/text/wordpiece.h"
#include "heed/text/words.h"

namespace heed::text {

namespace {

const std::string kCharacters = "characters";
const std::string kWords = "words";
const std::string kLetters = "letters";
const std::string kUnicodeWords = "unicode_words";
const std::string kLines = "lines";

/// Characters, letters or words: all are a way to cut and a table.
class TableTokeniser : public Tokeniser {
 public:
  explicit TableTokeniser(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  int32_t size() const override { return vocabulary_.size(); }
  std::string token(int32_t id) const override { return vocabulary_.token(id); }
  std::string contents() const override { return vocabulary_.contents(); }

 protected:
  /// Each token as it shows; of `unknown` the next is taken.
  std::string_view shown(int32_t id, std::span<const std::string>& unknown) const {
    if (id != kUnknown) return vocabulary_.token(id);
    const std::string_view given = unknown.front();
    unknown = unknown.subspan(1);
    return given.empty() ? kUnknownShown : given;
  }
  Vocabulary vocabulary_;
};

class Characters : public TableTokeniser {
 public:
  using TableTokeniser::TableTokeniser;
  const std::string& kind() const override { return kCharacters; }
  static void count(std::string_view text, TokenCounts& counts) {
    for (const std::string_view character : CodePoints(text)) counts.add(character);
  }

 protected:
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    std::vector<int32_t> ids;
    ids.reserve(utf8_count(text));
    for (const std::string_view character : CodePoints(text)) ids.push_back(vocabulary_.id(character));
    return ids;
  }
  std::vector<std::string> cut_valid(std::string_view text) const override {
    const CodePoints all(text);
    return {all.begin(), all.end()};
  }
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::string text;
    for (const int32_t id : ids) text += shown(id, unknown);
    return text;
  }
};

/// The characters of the decomposed text.
class Letters final : public Characters {
 public:
  using Characters::Characters;
  const std::string& kind() const override { return kLetters; }
  static void count(std::string_view text, TokenCounts& counts) { Characters::count(decomposed(text), counts); }

 protected:
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    return Characters::encode_valid(decomposed(text));
  }
  std::vector<std::string> cut_valid(std::string_view text) const override {
    return Characters::cut_valid(decomposed(text));
  }
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    return composed(Characters::decode_valid(ids, unknown));
  }
};

// Ways to split a text into words: the name of the tokeniser, and visit(word) for each.
struct BetweenBlanks {
  static const std::string& kind() { return kWords; }
  template <class Visit>
  static void each(std::string_view text, const Visit& visit) {
    for_each_word(text, visit);
  }
};
struct ByUnicode {
  static const std::string& kind() { return kUnicodeWords; }
  template <class Visit>
  static void each(std::string_view text, const Visit& visit) {
    for (const std::string& word : unicode_words_of(text)) visit(std::string_view(word));
  }
};
struct WholeLine {
  static const std::string& kind() { return kLines; }
  template <class Visit>
  static void each(std::string_view text, const Visit& visit) {
    if (const std::string_view line = without_blanks_around(text); !line.empty()) visit(line);
  }
};

template <class Split>
class WordTokeniser final : public TableTokeniser {
 public:
  using TableTokeniser::TableTokeniser;
  const std::string& kind() const override { return Split::kind(); }
  static void count(std::string_view text, TokenCounts& counts) {
    Split::each(text, [&](std::string_view word) { counts.add(word); });
  }

 protected:
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    std::vector<int32_t> ids;
    Split::each(text, [&](std::string_view word) { ids.push_back(vocabulary_.id(word)); });
    return ids;
  }
  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> words;
    Split::each(text, [&](std::string_view word) { words.push_back(" " + std::string(word)); });
    return words;
  }
  /// With one blank between two.
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i > 0) text += ' ';
      std::string_view word = shown(ids[i], unknown);
      if (word.starts_with(' ')) word.remove_prefix(1);
      text += word;
    }
    return text;
  }
};

// ------------------------------------------------------------------------------------------------- the list of kinds

using Made = std::shared_ptr<const Tokeniser>;
using Texts = std::span<const std::string_view>;

/// What a kind is for. reading: what it makes of ids is not the text. others: it comes with a model that another
/// program trained, and is not learned.
enum class Use { texts, reading, labels, others };

struct Kind {
  std::string name;
  const char* ending;  // of its file
  Use use;
  Made (*learn)(Texts sentences, const TokeniserOptions& options);  // null: it cannot be learned
  Made (*parse)(std::string_view contents, std::string_view name);
  /// `known` with the tokens that it lacks. Null: it cannot grow.
  Made (*grow)(const Made& known, Texts sentences, const TokeniserOptions& options);
};

template <class Table>
TokenCounts counts_of(Texts sentences) {
  TokenCounts counts;
  for (const std::string_view sentence : sentences) Table::count(sentence, counts);
  return counts;
}

template <class Table>
Made learn_table(Texts sentences, const TokeniserOptions& options) {
  return std::make_shared<Table>(
      Vocabulary::from_counts(counts_of<Table>(sentences), {.max_size = options.size, .min_count = options.min_count}));
}

template <class Table>
Made parse_table(std::string_view contents, std::string_view name) {
  return std::make_shared<Table>(Vocabulary::parse(contents, name));
}

template <class Table>
Made grow_table(const Made& known, Texts sentences, const TokeniserOptions& options) {
  Vocabulary vocabulary = Vocabulary::parse(known->contents(), "the vocabulary");
  vocabulary.add(counts_of<Table>(sentences), {.max_size = options.size, .min_count = options.min_count});
  return vocabulary.size() == known->size() ? known : std::make_shared<Table>(std::move(vocabulary));
}

template <class Table>
Kind table(const std::string& name, Use use) {
  return {name, ".txt", use, learn_table<Table>, parse_table<Table>, grow_table<Table>};
}

const List<Kind>& all_kinds() {
  static const Kind kKinds[] = {
      table<Characters>(kCharacters, Use::texts),
      table<Letters>(kLetters, Use::texts),
      table<WordTokeniser<BetweenBlanks>>(kWords, Use::texts),
      table<WordTokeniser<ByUnicode>>(kUnicodeWords, Use::reading),
      table<WordTokeniser<WholeLine>>(kLines, Use::labels),
      {kSentencePiece, ".model", Use::texts, train_sentencepiece, parse_sentencepiece, nullptr},
      {kBytes, ".txt", Use::texts, [](Texts, const TokeniserOptions&) { return bytes_tokeniser(); }, parse_bytes,
       nullptr},
      {kScoredBpe, ".txt", Use::others, nullptr, parse_scored_bpe, nullptr},
      {kByteBpe, ".txt", Use::others, nullptr, parse_byte_bpe, nullptr},
      {kWordPiece, ".txt", Use::others, nullptr, parse_wordpiece, nullptr},
  };
  static const List<Kind> list("tokeniser", kKinds);
  return list;
}

/// Where <prefix> with this kind is kept.
std::filesystem::path file_of(const std::filesystem::path& prefix, const Kind& kind) {
  std::filesystem::path path = prefix;
  path += "." + kind.name + kind.ending;
  return path;
}

}  // namespace

std::span<const std::string> Tokeniser::kinds() {
  static const std::vector<std::string> names =
      all_kinds().names([](const Kind& kind) { return kind.use != Use::others; });
  return names;
}

std::vector<std::string> Tokeniser::kinds_of_others() {
  return all_kinds().names([](const Kind& kind) { return kind.use == Use::others; });
}

std::vector<std::string> Tokeniser::kinds_to_read() {
  return all_kinds().names([](const Kind& kind) { return kind.use == Use::texts || kind.use == Use::reading; });
}

std::vector<std::string> Tokeniser::kinds_to_write() {
  return all_kinds().names([](const Kind& kind) { return kind.use == Use::texts; });
}

std::shared_ptr<const Tokeniser> Tokeniser::train(std::span<const std::string_view> sentences,
                                                  const TokeniserOptions& options) {
  const Kind& kind = all_kinds().find(options.kind);
  expect(kind.learn != nullptr, "tokens of the kind {} come with a model of another program: they are not learned",
         kind.name);
  expect(options.size == 0 || options.size > kSpecials,
         "a vocabulary must have more than {} tokens (<unk>, <s> and </s> are {}), or 0: no limit, not {}", kSpecials,
         kSpecials, options.size);
  for (size_t i = 0; i < sentences.size(); ++i) {
    const size_t fault = utf8_fault(sentences[i]);
    expect(fault == std::string_view::npos, ErrorKind::data, "sentence {} is not valid UTF-8 at byte {}", i + 1,
           fault + 1);
  }
  return kind.learn(sentences, options);
}

std::shared_ptr<const Tokeniser> Tokeniser::grown(const std::shared_ptr<const Tokeniser>& known,
                                                  std::span<const std::string_view> sentences,
                                                  const TokeniserOptions& options) {
  const Kind& kind = all_kinds().find(known->kind());
  return kind.grow ? kind.grow(known, sentences, options) : known;
}

std::vector<int32_t> Tokeniser::encode(std::string_view text) const {
  const size_t fault = utf8_fault(text);
  expect(fault == std::string_view::npos, ErrorKind::data, "the text is not valid UTF-8 at byte {}", fault + 1);
  return encode_valid(text);
}

namespace {

/// Between the gaps of a text.
std::vector<std::string_view> parts_around_gaps(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t at; (at = text.find(Tokeniser::kGapSign)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + Tokeniser::kGapSign.size());
  }
  parts.push_back(text);
  return parts;
}

}  // namespace

std::vector<int32_t> Tokeniser::encode_with_gaps(std::string_view text, int32_t gap) const {
  const size_t fault = utf8_fault(text);
  expect(fault == std::string_view::npos, ErrorKind::data, "the text is not valid UTF-8 at byte {}", fault + 1);
  return encode_parts(parts_around_gaps(text), gap);
}

std::vector<int32_t> Tokeniser::encode_parts(std::span<const std::string_view> parts, int32_t gap) const {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) ids.push_back(gap);
    std::string_view part = parts[i];
    if (i + 1 < parts.size() && holds_blank_before() && part.ends_with(' ')) part.remove_suffix(1);
    if (part.empty()) continue;
    const std::vector<int32_t> of_part = encode_valid(part);
    ids.insert(ids.end(), of_part.begin(), of_part.end());
  }
  return ids;
}

std::string Tokeniser::fill_gaps(std::string_view text, std::span<const int32_t> tokens) const {
  const std::vector<std::string_view> parts = parts_around_gaps(text);
  expect(parts.size() == tokens.size() + 1, "there are {} tokens for {} gaps", tokens.size(), parts.size() - 1);
  std::string filled(parts.front());
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string piece = piece_text(tokens[i]);
    if (holds_blank_before() && filled.ends_with(' ')) filled.pop_back();
    if (holds_blank_before() && filled.empty() && piece.starts_with(' ')) piece.erase(0, 1);
    filled.append(piece).append(parts[i + 1]);
  }
  return filled;
}

std::vector<std::string> Tokeniser::cut(std::string_view text) const {
  const size_t fault = utf8_fault(text);
  expect(fault == std::string_view::npos, ErrorKind::data, "the text is not valid UTF-8 at byte {}", fault + 1);
  return cut_valid(text);
}

std::vector<int32_t> Tokeniser::never_written(const MayWrite& allowed) const {
  std::vector<int32_t> all = never_cut();
  if (!allowed.unknown) all.push_back(kUnknown);
  if (!allowed.start) all.push_back(kStart);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string Tokeniser::decode(std::span<const int32_t> ids, std::span<const std::string> for_unknown) const {
  std::vector<int32_t> words;
  words.reserve(ids.size());
  for (const int32_t id : ids) {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    if (id != kStart && id != kEnd) words.push_back(id);
  }
  std::vector<std::string> unknown(for_unknown.begin(), for_unknown.end());
  unknown.resize(static_cast<size_t>(std::count(words.begin(), words.end(), kUnknown)));
  std::string text = decode_valid(words, unknown);
  // No token has a control character, but a model of SentencePiece may still make one: of bytes, or for what is
  // unknown.
  for (size_t at = find_control(text); at != std::string::npos; at = find_control(text, at))
    if (text[at] == '\n' && holds_line_ends())
      ++at;
    else
      text.replace(at, static_cast<unsigned char>(text[at]) == 0xC2 ? 2 : 1, kUnknownShown);
  return text;
}

std::shared_ptr<const Tokeniser> Tokeniser::parse(std::string_view kind, std::string_view contents,
                                                  std::string_view name) {
  return all_kinds().find(kind).parse(contents, name);
}

void Tokeniser::save(const std::filesystem::path& prefix) const {
  write_file(file_of(prefix, all_kinds().find(kind())), contents());
  for (const Kind* other : all_kinds()) {
    std::error_code ignored;
    if (other->name != kind()) std::filesystem::remove(file_of(prefix, *other), ignored);
  }
}

std::shared_ptr<const Tokeniser> Tokeniser::load(const std::filesystem::path& prefix) {
  std::vector<const Kind*> found;
  std::vector<std::string> possible;
  for (const Kind* kind : all_kinds()) {
    const std::filesystem::path path = file_of(prefix, *kind);
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) found.push_back(kind);
    possible.push_back(path.string());
  }
  expect(!found.empty(), ErrorKind::missing, "there is no tokeniser: none of {} exists", fmt::join(possible, ", "));
  expect(found.size() == 1, ErrorKind::file, "there are two tokenisers, {} and {}; remove one of them",
         file_of(prefix, *found.front()).string(), file_of(prefix, *found.back()).string());
  const std::filesystem::path path = file_of(prefix, *found.front());
  return found.front()->parse(read_file(path), path.string());
}

}  // namespace heed::text
