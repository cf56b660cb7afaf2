// Training from a program: pairs and structs in, a model out.
//
//   const std::vector<heed::train::TextPair> pairs = {{"12 Sept 84", "1984-09-12"}, ...};
//   heed::recipe::Recipe recipe{.model = {.kind = "transformer", .width = 64}, .stop = {.minutes = 5}};
//   const heed::predict::Predictor model = heed::train::train(pairs, "dates", {.recipe = recipe});
//   std::puts(model.predict("4 May 1999").text().c_str());
//
// What a file defines, or what needs more than that: train/recipe/data_files.h and train/session.h.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/predict/predictor.h"
#include "heed/task/prediction.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/session.h"

namespace heed::train {

using task::TextPair;

struct TrainOptions {
  /// The values that differ from the defaults of the structs are set; everything else is chosen to fit the data
  /// (tokens, model, batch size, learning rate, epochs), as `heed train` does. Values that follow from others, such as
  /// data.valid and the output folder, are not read.
  recipe::Recipe recipe = {};
  /// More keys, as after --set; also to keep one at its default: "model.width=256", "model.task=seq2seq".
  std::vector<std::string> settings = {};
  /// To validate on. Empty: some are held out.
  std::vector<TextPair> valid = {};
  /// Observers, resuming, weights to start from, ...
  SessionOptions session = {};
};

/// Trains on the pairs, which may also be texts with labels, and loads the best checkpoint. `folder` gets the pairs,
/// the checkpoints and the recipe. Throws as run_session() does.
predict::Predictor train(std::span<const TextPair> pairs, const std::filesystem::path& folder,
                         const TrainOptions& options = {});

}  // namespace heed::train
