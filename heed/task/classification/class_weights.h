// How much each label counts in the loss.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::task {

/// counts [labels]: texts of each label in training -> [labels]. `how`: "none", all count the same; "balanced", rare
/// ones count more, texts / (labels * texts of the label), so that their mean over the texts is 1; or weights by name,
/// "spam=5,ham=1", where those not named have 1. Throws Error.
std::vector<float> class_weights(std::string_view how, std::span<const int64_t> counts, const text::Tokeniser& labels);

/// What is wrong with the text, before the labels are known; empty: nothing.
std::string class_weights_problem(std::string_view how);

}  // namespace heed::task
