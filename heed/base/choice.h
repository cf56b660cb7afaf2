// An option that is one of a few words: each word with its value. Each list is defined once, next to the option. What a
// word was called before belongs to its entry, and is read as the word of today.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/renamed.h"

namespace heed {

template <class Value>
struct Choice {
  const char* word;
  Value value;
  const char* former = nullptr;  // what the word was before, if it was called otherwise
};

template <class Value, size_t n>
std::vector<std::string> words_of(const Choice<Value> (&choices)[n]) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.emplace_back(choice.word);
  return words;
}

template <class Value, size_t n>
std::vector<Renamed> renamed_words_of(const Choice<Value> (&choices)[n]) {
  std::vector<Renamed> renamed;
  for (const auto& choice : choices)
    if (choice.former) renamed.push_back({choice.former, choice.word});
  return renamed;
}

template <class Value>
bool is_called(const Choice<Value>& choice, std::string_view word) {
  return word == choice.word || (choice.former && word == choice.former);
}

template <class Value, size_t n>
bool has_word(const Choice<Value> (&choices)[n], std::string_view word) {
  for (const auto& choice : choices)
    if (is_called(choice, word)) return true;
  return false;
}

/// Throws if it is not one of them; the message starts with `what`, if given.
template <class Value, size_t n>
Value value_of(const Choice<Value> (&choices)[n], std::string_view word, std::string_view what = "") {
  for (const auto& choice : choices)
    if (is_called(choice, word)) return choice.value;
  const std::string words = fmt::format("{}", fmt::join(words_of(choices), ", "));
  throw Error(what.empty() ? fmt::format("'{}' is not one of {}", word, words)
                           : fmt::format("{} must be one of {}, not '{}'", what, words, word));
}

}  // namespace heed
