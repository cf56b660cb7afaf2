#include "heed/data/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "heed/text/words.h"

namespace heed::data {

namespace {

constexpr int64_t kHeaderLines = 5000;  // lines
constexpr size_t kLongestName = 40;

using NameSet = std::set<std::string_view>;

/// What columns of pairs, labels and pictures are called.
const NameSet& column_names() {
  static const NameSet all = {
      // sources
      "source", "src", "input", "in", "from", "original", "orig", "raw", "x", "query", "question", "prompt",
      "instruction", "context", "premise", "sentence", "text", "document", "passage", "paragraph", "review", "comment",
      "tweet", "post", "message", "title", "body", "content", "utterance", "phrase", "word", "term", "lemma",
      "headword", "entry", "orthography", "orth", "grapheme", "graphemes", "spelling", "written", "surface", "form",
      "token", "tokens", "image", "picture", "file", "filename", "path", "url", "audio", "recording", "sound", "wav",
      // targets
      "target", "tgt", "trg", "output", "out", "to", "translation", "reference", "ref", "corrected", "correction",
      "clean", "normalized", "normalised", "y", "answer", "response", "reply", "completion", "hypothesis", "summary",
      "caption", "description", "label", "labels", "class", "category", "sentiment", "polarity", "rating", "score",
      "stars", "topic", "intent", "tag", "tags", "ipa", "pronunciation", "pron", "phoneme", "phonemes", "phonetic",
      "phonetics", "phones", "transcription", "transcript", "transliteration", "romanization", "romanisation", "sampa",
      "xsampa", "arpabet", "inflection", "inflected", "features", "gloss", "definition", "meaning", "date", "iso",
      "code", "sql", "gold", "judgment", "judgement", "entailment", "relatedness", "similarity",
      // others
      "id", "idx", "index", "pair", "number", "name", "key", "value", "lang", "language", "split", "author", "time",
      "timestamp", "count", "frequency", "freq"};
  return all;
}

const NameSet& language_codes() {
  static const NameSet all = {
      "ar",  "az",  "bg",  "bn",  "ca",  "cs",  "cy",  "da",  "de",  "el",  "en",  "es",  "et",  "eu",  "fa",  "fi",
      "fr",  "ga",  "gl",  "he",  "hi",  "hr",  "hu",  "hy",  "id",  "is",  "it",  "ja",  "ka",  "kk",  "ko",  "lt",
      "lv",  "mk",  "mt",  "nb",  "nl",  "nn",  "no",  "pl",  "pt",  "ro",  "ru",  "sk",  "sl",  "sq",  "sr",  "sv",
      "sw",  "ta",  "te",  "th",  "tr",  "uk",  "ur",  "uz",  "vi",  "zh",  "ara", "ces", "cze", "deu", "ell", "eng",
      "est", "fas", "fin", "fra", "fre", "ger", "heb", "hin", "hun", "ita", "jpn", "kor", "lav", "lit", "nld", "nor",
      "pol", "por", "ron", "rus", "slk", "spa", "swe", "tur", "ukr", "vie", "zho", "us",  "gb"};
  return all;
}

const NameSet& language_names() {
  static const NameSet all = {
      "arabic",   "armenian",  "basque",  "bengali", "bulgarian",  "catalan",   "chinese",    "croatian",
      "czech",    "danish",    "dutch",   "english", "estonian",   "finnish",   "french",     "georgian",
      "german",   "greek",     "hebrew",  "hindi",   "hungarian",  "icelandic", "indonesian", "irish",
      "italian",  "japanese",  "kazakh",  "korean",  "latin",      "latvian",   "lithuanian", "maltese",
      "mandarin", "norwegian", "persian", "polish",  "portuguese", "romanian",  "russian",    "serbian",
      "slovak",   "slovenian", "spanish", "swahili", "swedish",    "tamil",     "telugu",     "thai",
      "turkish",  "ukrainian", "urdu",    "uzbek",   "vietnamese", "welsh"};
  return all;
}

bool is_upper_letter(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }

/// "sentence1", "sourceText", "# word (en)" -> "sentence"; "source", "text"; "word", "en". Nothing if there is anything
/// but letters, digits and what stands between the parts of a name.
std::optional<std::vector<std::string>> parts_of_name(std::string_view cell) {
  if (cell.starts_with("\xEF\xBB\xBF")) cell.remove_prefix(3);  // a byte order mark
  if (cell.size() > kLongestName) return {};
  std::vector<std::string> parts(1);
  char before = ' ';
  for (const char c : cell) {
    const bool is_between = std::string_view(" _-./()[]#\"'").find(c) != std::string_view::npos;
    if (!is_upper_letter(c) && !is_lower_letter(c) && !is_between && !(c >= '0' && c <= '9')) return {};
    if (is_between || (is_upper_letter(c) && is_lower_letter(before))) parts.emplace_back();
    if (is_upper_letter(c)) parts.back() += static_cast<char>(c - 'A' + 'a');
    if (is_lower_letter(c)) parts.back() += c;
    before = c;
  }
  std::erase(parts, "");
  return parts;
}

enum class CellKind { nothing, name, code, language };

CellKind kind_of_cell(std::string_view cell) {
  const auto parts = parts_of_name(cell);
  constexpr size_t kMost = 4;
  if (!parts || parts->empty() || parts->size() > kMost) return CellKind::nothing;
  if (parts->size() == 1 && language_codes().contains(parts->front()) && !column_names().contains(parts->front()))
    return CellKind::code;
  if (parts->size() == 1 && language_names().contains(parts->front())) return CellKind::language;
  bool named = false;
  for (const std::string& part : *parts) {
    if (part == "a" || part == "b") continue;  // of two: "sentence_A"
    named |= column_names().contains(part);
    if (!column_names().contains(part) && !language_codes().contains(part) && !language_names().contains(part))
      return CellKind::nothing;
  }
  return named ? CellKind::name : CellKind::nothing;
}

/// One word, as a name is: no blank, no punctuation, not only digits.
bool is_one_word(std::string_view cell) {
  bool has_letter = false;
  for (const char c : cell) {
    const bool letter = is_upper_letter(c) || is_lower_letter(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!letter && c != '_' && c != '-' && !(c >= '0' && c <= '9')) return false;
    has_letter |= letter;
  }
  return has_letter && cell.size() <= kLongestName;
}

std::string in_small_letters(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (is_upper_letter(c)) c = static_cast<char>(c - 'A' + 'a');
  return low;
}

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  text::for_each_word(text, [&](std::string_view) { ++words; });
  return words;
}

}  // namespace

bool names_columns(std::span<const std::string_view> cells) {
  if (cells.size() < 2) return false;
  std::set<std::string> different;
  std::set<CellKind> kinds;
  for (const std::string_view cell : cells) {
    kinds.insert(kind_of_cell(cell));
    different.insert(in_small_letters(cell));
  }
  // Codes are short words of some language, and prove something only together.
  const bool agree = !kinds.contains(CellKind::nothing) && (!kinds.contains(CellKind::code) || kinds.size() == 1);
  return agree && different.size() == cells.size();
}

void HeaderWatch::see(int64_t number, std::span<const std::string_view> cells) {
  if (number == 1) {
    first_.assign(cells.begin(), cells.end());
    is_named_ = names_columns(cells);
    return;
  }
  if (first_.empty() || lines_ >= kHeaderLines) return;
  ++lines_;
  others_named_ |= is_named_ && names_columns(cells);
  for (size_t i = 0; i < std::min(cells.size(), first_.size()); ++i) comes_again_ |= cells[i] == first_[i];
  for (size_t i = 0; i + 1 < cells.size(); ++i) words_ += count_words(cells[i]);
  targets_.emplace(cells.back());
}

bool HeaderWatch::first_is_header() const {
  if (comes_again_ || lines_ == 0) return false;
  return (is_named_ && !others_named_) || looks_like_header_of_labels();
}

bool HeaderWatch::looks_like_header_of_labels() const {
  constexpr int64_t kFewest = 20, kEach = 10, kWords = 4;  // lines in all and for each label, words of a text
  return lines_ >= kFewest && std::ssize(targets_) * kEach <= lines_ &&
         words_ >= kWords * lines_ * (std::ssize(first_) - 1) &&
         std::all_of(first_.begin(), first_.end(), [](const std::string& cell) { return is_one_word(cell); });
}

bool HeaderWatch::first_may_be_header() const {
  if (comes_again_ || first_is_header()) return false;
  const auto named = std::count_if(first_.begin(), first_.end(), [](const std::string& cell) {
    return kind_of_cell(cell) == CellKind::name && cell.size() > 1;
  });
  const auto is_plain = [](const std::string& cell) { return is_one_word(cell) && parts_of_name(cell); };
  return named > 0 && !others_named_ && std::all_of(first_.begin(), first_.end(), is_plain);
}

std::string HeaderWatch::first() const { return fmt::format("'{}'", fmt::join(first_, "', '")); }

}  // namespace heed::data
