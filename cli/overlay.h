// heed predict --overlay: pictures with the weights laid over them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/predict/predictor.h"

namespace heed::cli {

/// Writes FOLDER/NUMBER.png for an answered line: the picture of this name, alone and once for each token of the best
/// output. Throws if the model reads no pictures; nothing is written for a line without an output.
void write_overlay(const std::string& folder, int64_t number, std::string_view name,
                   const predict::Prediction& prediction);

}  // namespace heed::cli
