#include "heed/text/metric/tokenise.h"

#include <array>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/text/metric/rewrite.h"
#include "heed/text/metric/unicode.h"

namespace heed::metric {

namespace {

const std::array<std::string, 4> kNames = {"13a", "none", "char", "intl"};  // in the order of Tokenisation

std::u32string by_13a(std::u32string_view line) {
  std::u32string text = replaced(line, U"<skipped>", U"");
  text = replaced(text, U"-\n", U"");
  text = without_entities(replaced(text, U"\n", U" "));
  return western_points_apart(western_marks_apart(between_blanks(text)));
}

std::u32string by_intl(std::u32string_view line) {
  const auto no_number = [](char32_t c) { return !is_number(c); };
  std::u32string text = split_pairs(line, no_number, is_punctuation, Apart::second);
  text = split_pairs(text, is_punctuation, no_number, Apart::first);
  return set_apart(text, is_symbol);
}

std::u32string rewritten(std::u32string_view line, Tokenisation tokenisation) {
  switch (tokenisation) {
    case Tokenisation::v13a:
      return by_13a(line);
    case Tokenisation::characters:
      return set_apart(line, [](char32_t) { return true; });
    case Tokenisation::international:
      return by_intl(line);
    case Tokenisation::none:
      break;
  }
  return std::u32string(line);
}

}  // namespace

Tokenisation tokenisation_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Tokenisation>(i);
  throw Error(unknown_name("tokenisation", name, kNames));
}

std::string_view name_of(Tokenisation tokenisation) { return kNames[static_cast<size_t>(tokenisation)]; }

std::vector<std::u32string> tokenised(std::string_view text, Tokenisation tokenisation) {
  const std::u32string points = code_points(text);
  return split(rewritten(without_trailing_space(points), tokenisation));
}

}  // namespace heed::metric
