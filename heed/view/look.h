// A trained model and a line -> what the model attended to, at every layer and head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/predict/predictor.h"
#include "heed/view/document.h"

namespace heed::view {

inline constexpr int64_t kLargestTree = 10'000;  // nodes: more cannot be drawn

/// The model answers the line and then reads the tokens of its answer, or `target`, by teacher forcing: the numbers are
/// those of the fused kernels in that one pass. With a beam, or if options.tree is set, the example has the search tree
/// too, unless that has more than kLargestTree nodes. Throws ErrorKind::data if the line cannot be used, with the
/// reason.
Example look(const predict::Predictor& model, const std::string& line, const std::optional<std::string>& target = {},
             const predict::Options& options = {});

/// `folder`: where the model comes from.
ModelName name_of(const predict::Predictor& model, const std::string& folder);

}  // namespace heed::view
