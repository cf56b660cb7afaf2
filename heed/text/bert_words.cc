#include "heed/text/bert_words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <utility>

#include "heed/text/unicode_form.h"

namespace heed::text {

namespace {

/// The category in Unicode 8, as a mask. Three characters changed theirs since.
uint32_t category_of(UChar32 code) {
  if (code == 0x166D || code == 0x111C9) return U_GC_PO_MASK;
  if (code == 0x1734) return U_GC_MN_MASK;
  UVersionInfo age;
  u_charAge(code, age);
  return age[0] > 8 ? U_GC_CN_MASK : U_GET_GC_MASK(code);
}

/// White space, as of today.
bool is_white(UChar32 code) { return u_isUWhiteSpace(code); }

bool is_left_out(UChar32 code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  return code == 0 || code == 0xFFFD || (category_of(code) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_bert_punctuation(UChar32 code) {
  if (code < 0x80)
    return (code > ' ' && code < '0') || (code > '9' && code < 'A') || (code > 'Z' && code < 'a') ||
           (code > 'z' && code < 0x7F);
  return (category_of(code) & U_GC_P_MASK) != 0;
}

/// The blocks that the library looks for; one of them begins later there than in BERT.
bool is_bert_ideograph(UChar32 code) {
  constexpr std::pair<UChar32, UChar32> kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                                     {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
                                                     {0x2F800, 0x2FA1F}};
  return std::ranges::any_of(kBlocks, [&](const auto& block) { return code >= block.first && code <= block.second; });
}

void append(std::string& text, UChar32 code) {
  char bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, code);
  text.append(bytes, static_cast<size_t>(length));
}

/// change(code, to) appends what becomes of each character.
template <class Change>
std::string changed(std::string_view text, const Change& change) {
  std::string to;
  to.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    UChar32 code = 0;
    U8_NEXT_UNSAFE(text.data(), i, code);
    change(code, to);
  }
  return to;
}

void add_lower(UChar32 code, std::string& to) {
  constexpr UChar32 kCapitalIWithDot = 0x130, kDotAbove = 0x307;  // the one character that becomes two
  append(to, code == kCapitalIWithDot ? 'i' : u_tolower(code));
  if (code == kCapitalIWithDot) append(to, kDotAbove);
}

}  // namespace

std::string bert_normalised(std::string_view given, const BertForm& form) {
  std::string text(given);
  if (form.clean)
    text = changed(text, [](UChar32 code, std::string& to) {
      if (!is_left_out(code)) append(to, is_white(code) ? ' ' : code);
    });
  if (form.ideographs)
    text = changed(text, [](UChar32 code, std::string& to) {
      const bool alone = is_bert_ideograph(code);
      if (alone) to += ' ';
      append(to, code);
      if (alone) to += ' ';
    });
  if (form.strip)
    text = changed(decomposed(text), [](UChar32 code, std::string& to) {
      if ((category_of(code) & U_GC_MN_MASK) == 0) append(to, code);
    });
  if (form.lower) text = changed(text, add_lower);
  return text;
}

void each_bert_word(std::string_view text, const std::function<void(std::string_view)>& visit) {
  size_t begin = 0;  // of the word that is open
  const auto end_at = [&](size_t end) {
    if (end > begin) visit(text.substr(begin, end - begin));
  };
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    UChar32 code = 0;
    U8_NEXT_UNSAFE(text.data(), i, code);
    const bool blank = is_white(code);
    if (!blank && !is_bert_punctuation(code)) continue;
    end_at(at);
    begin = blank ? i : at;
    if (!blank) end_at(i);
    begin = i;
  }
  end_at(text.size());
}

}  // namespace heed::text
