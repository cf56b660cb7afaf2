// A trained model and a line -> what the model attended to, at every layer and head.
#pragma once

#include <optional>
#include <string>

#include "heed/predict/predictor.h"
#include "heed/view/document.h"

namespace heed::view {

/// The model answers the line and then reads its answer, or `target`, by teacher forcing: the numbers are those of the
/// fused kernels in that one pass. Throws ErrorKind::data if the line cannot be used, with the reason.
Example look(const predict::Predictor& model, const std::string& line, const std::optional<std::string>& target = {},
             const predict::Options& options = {});

/// `folder`: where the model comes from.
ModelName name_of(const predict::Predictor& model, const std::string& folder);

}  // namespace heed::view
