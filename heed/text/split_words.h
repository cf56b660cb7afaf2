// Where byte-level BPE cuts a text before it joins bytes: the patterns of the models that use it, by hand, because what
// a regular expression of a stranger's file costs cannot be known.
#pragma once

#include <functional>
#include <string_view>

#include "heed/base/choice.h"

namespace heed::text {

struct WordPattern {
  bool any_case;        // 'S like 's
  bool lead_any;        // a word may begin with any one sign that ends no line, not only with a blank
  bool line_ends;       // line ends belong to the signs before them, or to the blanks
  int most_digits;      // of one piece; 0: no limit
  const char* pattern;  // as files of tokenisers have it
};

/// By the model that had it first.
inline constexpr Choice<WordPattern> kWordPatterns[] = {
    {"gpt2", {false, false, false, 0, R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"}},
    {"llama3",
     {true, true, true, 3,
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"qwen2",
     {true, true, true, 1,
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}}};

/// visit(word) for each, of valid UTF-8: together they are the text.
void split_words(std::string_view text, const WordPattern& pattern, const std::function<void(std::string_view)>& visit);

}  // namespace heed::text
