#include "heed/compare/measures.h"

#include <fmt/format.h>

#include <cmath>

namespace heed::compare {

namespace {

using Value = std::optional<double>;

/// 12,345
std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

template <int kDecimals>
std::string decimals(double x) {
  return fmt::format("{:.{}f}", x, kDecimals);
}

constexpr Measure kAll[] = {
    {"value", "value", "The metric, on the validation data.", true, [](const Result& r) -> Value { return r.value; },
     decimals<2>},
    {"loss", "loss", "-log p of a prediction, on the validation data.", true,
     [](const Result& r) -> Value { return r.loss; }, decimals<4>},
    {"parameters", "parameters", "Numbers that are learned.", false,
     [](const Result& r) -> Value { return static_cast<double>(r.parameters); }, grouped},
    {"training_speed", "trained/s", "Predictions (target tokens and ends, or labels) per second of training.", false,
     [](const Result& r) { return r.training_speed; }, grouped},
    {"decoding_speed", "decoded/s", "Validation lines per second, greedily.", false,
     [](const Result& r) { return r.decoding_speed; }, grouped},
    {"training_memory", "MB", "Most memory that the activations of an update and their gradients took.", false,
     [](const Result& r) -> Value {
       if (!r.training_memory) return {};
       return static_cast<double>(*r.training_memory) / 1e6;
     },
     decimals<1>},
    {"entropy", "entropy", "Mean entropy of the alignments, in bits: 0 looks at one token, 3 at eight.", false,
     [](const Result& r) { return r.entropy; }, decimals<2>},
    {"monotonicity", "forward", "Share of the steps after which the most attended token is not further back.", false,
     [](const Result& r) { return r.monotonicity; }, decimals<2>},
    {"updates", "updates", "Updates of the weights.", false,
     [](const Result& r) -> Value { return static_cast<double>(r.updates); }, grouped},
    {"seconds", "seconds", "Seconds of training, validations included.", false,
     [](const Result& r) -> Value { return r.seconds; }, decimals<1>},
};

}  // namespace

std::span<const Measure> all_measures() { return kAll; }

}  // namespace heed::compare
