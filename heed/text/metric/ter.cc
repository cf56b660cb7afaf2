#include "heed/text/metric/ter.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "heed/base/error.h"
#include "heed/text/metric/ngrams.h"
#include "heed/text/metric/rewrite.h"
#include "heed/text/metric/ter_edits.h"
#include "heed/text/metric/unicode.h"

namespace heed::metric {

namespace {

bool is_western_punctuation(char32_t c) {
  return std::u32string_view(U".,?:;!\"()").find(c) != std::u32string_view::npos;
}

bool is_asian_punctuation(char32_t c) {
  if (c == 0x3001 || c == 0x3002 || c == 0x30FB) return true;
  if ((c >= 0x3008 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301F) || (c >= 0xFF61 && c <= 0xFF65)) return true;
  return std::u32string_view(U"\uFF0E\uFF0C\uFF1F\uFF1A\uFF1B\uFF01\uFF02\uFF08\uFF09").find(c) !=
         std::u32string_view::npos;  // of full width
}

/// Chinese characters, their radicals and strokes, and what is composed of them.
bool is_ideograph(char32_t c) {
  return (c >= 0x2E80 && c <= 0x2EFF) || (c >= 0x31C0 && c <= 0x31EF) || (c >= 0x3200 && c <= 0x4DBF) ||
         (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F);
}

std::u32string normalised(std::u32string_view line, bool asian) {
  std::u32string text = replaced(replaced(line, U"\n-", U""), U"\n", U" ");
  text = western_marks_apart(between_blanks(without_entities(std::move(text))));
  text = western_points_apart(replaced(text, U"'s ", U" 's "));
  // tercom's rules for hiragana and katakana are left out: they require the start of the text, where there is a space.
  if (asian) text = set_apart(text, [](char32_t c) { return is_ideograph(c) || is_asian_punctuation(c); });
  return text;
}

/// One blank between words.
std::u32string prepared(std::u32string text, const TerOptions& options) {
  text.resize(without_trailing_space(text).size());
  if (options.normalise) text = normalised(text, options.asian);
  if (options.no_punctuation)
    std::erase_if(text,
                  [&](char32_t c) { return is_western_punctuation(c) || (options.asian && is_asian_punctuation(c)); });
  std::u32string joined;
  for (const std::u32string& word : split(text)) {
    if (!joined.empty()) joined.push_back(U' ');
    joined.append(word);
  }
  return joined;
}

/// sacreBLEU prepares references twice. Normalising ",.1" once gives ", .1", twice ", . 1": published scores have this.
std::vector<std::u32string> words_of(const std::string& given, const TerOptions& options, int times) {
  std::u32string text = code_points(options.case_sensitive ? given : lowered(given));
  for (int i = 0; i < times; ++i) text = prepared(std::move(text), options);
  return split(text);
}

}  // namespace

std::vector<double> Ter::of_segment(const std::string& hypothesis, const Texts& references) const {
  WordNumbers numbers;
  const std::vector<int32_t> said = numbers.of(words_of(hypothesis, options_, 1));
  int64_t least = std::numeric_limits<int64_t>::max();
  double words = 0;
  for (const std::string& reference : references) {
    const std::vector<int32_t> right = numbers.of(words_of(reference, options_, 2));
    least = std::min(least, ter_edits(said, right));
    words += static_cast<double>(right.size());
  }
  return {static_cast<double>(least), words / static_cast<double>(references.size())};
}

Score Ter::score(std::span<const double> total) const {
  const double edits = total[0], words = total[1];
  const double rate = words > 0 ? edits / words : edits > 0 ? 1.0 : 0.0;
  return {.name = "TER",
          .value = 100 * rate,
          .higher_is_better = false,
          .details = {},
          .parts = {{"edits", edits}, {"reference_length", words}}};
}

std::string Ter::settings() const {
  const auto word = [](bool set) { return set ? "yes" : "no"; };
  return fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}", options_.case_sensitive ? "mixed" : "lc",
                     word(options_.normalise), word(!options_.no_punctuation), word(options_.asian));
}

}  // namespace heed::metric
