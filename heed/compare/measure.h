// What is measured on a trained model: quality, speed of decoding, alignments.
#pragma once

#include "heed/compare/result.h"
#include "heed/recipe/recipe.h"

namespace heed::compare {

/// Of the best checkpoint in recipe.output.folder, on the validation data of the recipe. What only the training knows
/// (updates, times, memory) stays empty.
Result measure(const recipe::Recipe& recipe);

}  // namespace heed::compare
