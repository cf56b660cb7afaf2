// How well a model of running text predicts a text: perplexity and bits per character.
#pragma once

#include <string>

#include "heed/predict/predictor.h"

namespace heed::cli {

/// Prints it. `file`: the text; empty: the validation text of the training, from the same files.
void evaluate_text(const predict::Predictor& predictor, const std::string& file, bool json);

}  // namespace heed::cli
