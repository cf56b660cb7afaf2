// The options that are one of a few words and no mechanisms. Each list stands here, once.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/kernels/problem.h"
#include "heed/tensor/error.h"

namespace heed::attend {

enum class Position { none, alibi, relative, rotary };
enum class Form { vector, linear };
enum class AtTest { expectation, argmax };

template <class Value>
struct Choice {
  const char* word;
  Value value;
};

inline constexpr Choice<Position> kPositions[] = {{"none", Position::none},
                                                  {"alibi", Position::alibi},
                                                  {"relative", Position::relative},
                                                  {"rotary", Position::rotary}};
inline constexpr Choice<kernels::MlpActivation> kActivations[] = {{"tanh", kernels::MlpActivation::tanh},
                                                                  {"relu", kernels::MlpActivation::relu},
                                                                  {"gelu", kernels::MlpActivation::gelu}};
inline constexpr Choice<Form> kForms[] = {{"vector", Form::vector}, {"linear", Form::linear}};
inline constexpr Choice<AtTest> kAtTest[] = {{"expectation", AtTest::expectation}, {"argmax", AtTest::argmax}};

template <class Value, size_t n>
std::vector<std::string> words_of(const Choice<Value> (&choices)[n]) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.emplace_back(choice.word);
  return words;
}

template <class Value, size_t n>
bool has_word(const Choice<Value> (&choices)[n], std::string_view word) {
  for (const auto& choice : choices)
    if (word == choice.word) return true;
  return false;
}

/// Throws where it is none of them.
template <class Value, size_t n>
Value value_of(const Choice<Value> (&choices)[n], std::string_view word) {
  for (const auto& choice : choices)
    if (word == choice.word) return choice.value;
  throw Error(fmt::format("'{}' is none of {}", word, fmt::join(words_of(choices), ", ")));
}

/// "tanh, relu and gelu"
inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  return text;
}

}  // namespace heed::attend
