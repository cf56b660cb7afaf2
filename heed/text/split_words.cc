#include "heed/text/split_words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::text {

namespace {

enum class Class { letter, digit, blank, sign };

struct Character {
  UChar32 code;
  Class kind;
  size_t at;  // in the text
};

Class class_of(UChar32 code) {
  const uint32_t mask = U_GET_GC_MASK(code);
  if (mask & U_GC_L_MASK) return Class::letter;
  if (mask & U_GC_N_MASK) return Class::digit;
  return u_isUWhiteSpace(code) ? Class::blank : Class::sign;
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> all;
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    UChar32 code = 0;
    U8_NEXT_UNSAFE(text.data(), i, code);
    all.push_back({code, class_of(code), at});
  }
  return all;
}

class Splitter {
 public:
  Splitter(const std::vector<Character>& all, const WordPattern& pattern) : all_(all), pattern_(pattern) {}

  /// Where the word ends that begins at `i`: the alternatives of the pattern, in its order.
  size_t end_of(size_t i) const {
    if (const size_t end = contraction(i); end > i) return end;
    if (const size_t begin = i + leads(i); is(begin, Class::letter)) return run(begin, Class::letter);
    const size_t after_blank = i + (pattern_.most_digits == 0 && is_code(i, ' ') ? 1 : 0);
    if (is(after_blank, Class::digit)) return digits(after_blank);
    if (const size_t begin = i + (is_code(i, ' ') ? 1 : 0); is(begin, Class::sign)) {
      size_t end = run(begin, Class::sign);
      while (pattern_.line_ends && ends_line(end)) ++end;
      return end;
    }
    return blanks(i);
  }

 private:
  bool is(size_t i, Class kind) const { return i < all_.size() && all_[i].kind == kind; }
  bool is_code(size_t i, UChar32 code) const { return i < all_.size() && all_[i].code == code; }
  bool ends_line(size_t i) const { return is_code(i, '\r') || is_code(i, '\n'); }
  size_t run(size_t i, Class kind) const {
    while (is(i, kind)) ++i;
    return i;
  }

  /// 's 't 're 've 'm 'll 'd; `i` itself if there is none.
  size_t contraction(size_t i) const {
    if (!is_code(i, '\'')) return i;
    for (const char* ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      size_t end = i + 1;
      for (const char* c = ending; *c && matches(end, *c); ++c) {
        ++end;
        if (c[1] == 0) return end;
      }
    }
    return i;
  }
  bool matches(size_t i, char letter) const {
    if (i >= all_.size()) return false;
    const UChar32 code = all_[i].code;
    return code == letter || (pattern_.any_case && u_foldCase(code, U_FOLD_CASE_DEFAULT) == letter);
  }
  /// Characters before the letters of a word: none or one.
  size_t leads(size_t i) const {
    if (!pattern_.lead_any) return is_code(i, ' ') ? 1 : 0;
    const bool may = (is(i, Class::blank) || is(i, Class::sign)) && !ends_line(i);
    return may ? 1 : 0;
  }
  size_t digits(size_t i) const {
    const size_t end = run(i, Class::digit), most = static_cast<size_t>(pattern_.most_digits);
    return most > 0 && end > i + most ? i + most : end;
  }
  size_t blanks(size_t i) const {
    const size_t end = run(i, Class::blank);
    if (pattern_.line_ends)
      for (size_t last = end; last > i; --last)
        if (ends_line(last - 1)) return last;
    // The last blank belongs to what follows it.
    return end == all_.size() || end == i + 1 ? end : end - 1;
  }

  const std::vector<Character>& all_;
  const WordPattern& pattern_;
};

}  // namespace

void split_words(std::string_view text, const WordPattern& pattern,
                 const std::function<void(std::string_view)>& visit) {
  const std::vector<Character> all = characters_of(text);
  const Splitter splitter(all, pattern);
  for (size_t i = 0; i < all.size();) {
    const size_t end = splitter.end_of(i), to = end < all.size() ? all[end].at : text.size();
    visit(text.substr(all[i].at, to - all[i].at));
    i = end;
  }
}

}  // namespace heed::text
