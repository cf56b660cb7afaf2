// How well a model of running text predicts a text: perplexity and bits per character.
#pragma once

#include <cstdint>
#include <string>

#include "heed/predict/predictor.h"

namespace heed::cli {

struct JudgedText {
  std::string file;    // empty: the validation text of the training, from the same files
  int64_t stride = 0;  // ScoreOptions::stride
};

/// Prints it.
void evaluate_text(const predict::Predictor& predictor, const JudgedText& text, bool json);

}  // namespace heed::cli
