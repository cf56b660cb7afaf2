// The named values of the options of stacks of layers. Each list is defined here, once.
#pragma once

#include "heed/base/choice.h"
#include "heed/layer/feed_forward.h"
#include "heed/layer/recurrent.h"
#include "heed/model/encode/encoder.h"

namespace heed::encode {

/// Of the feed-forward layers: what is between them, and whether a gate multiplies it (Shazeer 2020).
struct FeedForwardForm {
  Activation activation;
  bool gated;
};

inline constexpr Choice<FeedForwardForm> kActivations[] = {
    {"relu", {Activation::relu, false}},           {"gelu", {Activation::gelu, false}},
    {"silu", {Activation::silu, false}},           {"swiglu", {Activation::silu, true}, "swish"},
    {"gelu_tanh", {Activation::gelu_tanh, false}}, {"gelu_sigmoid", {Activation::gelu_sigmoid, false}},
    {"tanh", {Activation::tanh, false}},           {"sigmoid", {Activation::sigmoid, false}},
    {"reglu", {Activation::relu, true}},           {"geglu", {Activation::gelu, true}},
    {"geglu_tanh", {Activation::gelu_tanh, true}}};
inline constexpr Choice<RecurrentOptions::Kind> kCells[] = {{"gru", RecurrentOptions::Kind::gru},
                                                            {"lstm", RecurrentOptions::Kind::lstm}};
inline constexpr Choice<Wiring> kWirings[] = {
    {"last", Wiring::last}, {"same_block", Wiring::same_block}, {"mix", Wiring::mix}};

}  // namespace heed::encode
