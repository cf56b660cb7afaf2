#include "heed/task/spellings.h"

namespace heed::task {

namespace {

/// Letters and digits of ASCII, and every byte of other characters: what a word can go on with.
bool goes_on(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/// Where the phrase stands as whole words; npos if nowhere.
size_t whole_words(std::string_view text, std::string_view phrase) {
  for (size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
    const size_t end = at + phrase.size();
    const bool inside = (at > 0 && goes_on(text[at - 1]) && goes_on(phrase.front())) ||
                        (end < text.size() && goes_on(text[end]) && goes_on(phrase.back()));
    if (!inside) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool has_other_spellings(const text::Tokeniser& tokeniser) { return tokeniser.kind() == "sentencepiece"; }

std::vector<int32_t> spelling_in(std::span<const int32_t> tokens, std::string_view phrase,
                                 const text::Tokeniser& tokeniser) {
  const size_t at = whole_words(tokeniser.decode(tokens), phrase);
  if (at == std::string_view::npos) return {};
  // The fewest tokens around it: those before it end at the phrase or at the blank in front of it.
  size_t begin = 0, end = tokens.size();
  while (begin + 1 < tokens.size() && tokeniser.decode(tokens.first(begin + 1)).size() <= at) ++begin;
  while (end > begin + 1 && tokeniser.decode(tokens.first(end - 1)).size() >= at + phrase.size()) --end;
  return {tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.begin() + static_cast<ptrdiff_t>(end)};
}

}  // namespace heed::task
