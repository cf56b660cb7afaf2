// The named values of a model's options. Each list is defined here, once; those of its stacks in
// heed/model/encode/choices.h.
#pragma once

#include <optional>

#include "heed/base/choice.h"
#include "heed/tensor/op/activation.h"

namespace heed::model {

enum class Tied { none, decoder, all };
enum class Norm { post, pre };
enum class Pool { attention, mean, max, first };
enum class OutputLength { classifier, slots };
enum class Positions { sinusoidal, learned, rotary, alibi, none };

inline constexpr Choice<Tied> kTied[] = {{"none", Tied::none}, {"decoder", Tied::decoder}, {"all", Tied::all}};
inline constexpr Choice<Norm> kNorms[] = {{"post", Norm::post}, {"pre", Norm::pre}};
inline constexpr Choice<bool> kNormKinds[] = {{"layer", false}, {"rms", true}};  // of the root mean square?
inline constexpr Choice<Pool> kPools[] = {
    {"attention", Pool::attention}, {"mean", Pool::mean}, {"max", Pool::max}, {"first", Pool::first}};
/// A layer behind the pool, and its activation.
inline constexpr Choice<std::optional<Activation>> kPoolLayers[] = {
    {"none", {}}, {"tanh", Activation::tanh}, {"relu", Activation::relu}};
inline constexpr Choice<Positions> kPositions[] = {{"sinusoidal", Positions::sinusoidal, "sin_cos"},
                                                   {"learned", Positions::learned},
                                                   {"rotary", Positions::rotary},
                                                   {"alibi", Positions::alibi},
                                                   {"none", Positions::none}};

inline constexpr Choice<OutputLength> kOutputLengths[] = {{"classifier", OutputLength::classifier},
                                                          {"slots", OutputLength::slots}};
inline constexpr Choice<bool> kLooksBack[] = {{"attention", true}, {"none", false}};

}  // namespace heed::model
