// Options with a few named values that are not mechanisms. Each list is defined here, once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/base/choice.h"
#include "heed/kernels/problem.h"

namespace heed::attend {

enum class Position { none, alibi, relative, rotary };
enum class Form { vector, linear };
enum class AtTest { expectation, argmax };
enum class Baseline { moving, self_critical };
enum class Decay { constant, linear, exponential };

inline constexpr Choice<Position> kPositions[] = {{"none", Position::none},
                                                  {"alibi", Position::alibi},
                                                  {"relative", Position::relative},
                                                  {"rotary", Position::rotary}};
inline constexpr Choice<kernels::MlpActivation> kActivations[] = {{"tanh", kernels::MlpActivation::tanh},
                                                                  {"relu", kernels::MlpActivation::relu},
                                                                  {"gelu", kernels::MlpActivation::gelu},
                                                                  {"silu", kernels::MlpActivation::silu}};
inline constexpr Choice<Form> kForms[] = {{"vector", Form::vector}, {"linear", Form::linear}};
inline constexpr Choice<AtTest> kAtTest[] = {{"expectation", AtTest::expectation}, {"argmax", AtTest::argmax}};

inline constexpr Choice<Baseline> kBaselines[] = {{"moving", Baseline::moving},
                                                  {"self_critical", Baseline::self_critical}};
inline constexpr Choice<Decay> kDecays[] = {
    {"constant", Decay::constant}, {"linear", Decay::linear}, {"exponential", Decay::exponential}};

/// "relu, gelu and silu"
inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  return text;
}

}  // namespace heed::attend
