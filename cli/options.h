// Options that several commands share, so that they have the same names, checks and help everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/predict/predictor.h"

namespace heed::cli {

/// --threads N, for everything that the command does.
void add_threads(Verb verb);
void add_json(Verb verb, bool& json, const std::string& meaning = "As JSON");
void add_seed(Verb verb, uint64_t& seed, const std::string& meaning);
/// --stride N, of models of running text; 0: not given.
void add_stride(Verb verb, int64_t& stride);

/// A trained model: MODEL, and --checkpoint to choose one from its folder.
struct ModelChoice {
  std::string folder;
  std::string checkpoint = "best";
  std::vector<std::string> ensemble = {};    // further models that write together with it
  std::string mean = "log_probabilities";    // of the ensemble
  std::string precision = trained::kStored;  // of the weights in memory
};
void add_model(Verb verb, ModelChoice& choice, bool required = true);
/// --precision, for commands that run the model.
void add_precision(Verb verb, ModelChoice& choice);
/// --ensemble and --ensemble-mean.
void add_ensemble(Verb verb, ModelChoice& choice);

/// Throws Error, with its own exit code, if the model does not exist or cannot be used.
void with_checkpoint(const ModelChoice& choice, const std::function<void(const file::Checkpoint&)>& use);
/// The names of the checkpoints of a training's folder, from the first update to the last. Throws if it holds none.
std::vector<std::string> checkpoints_in_order(const std::string& folder);
/// To run it: its weights are packed.
trained::TrainedModel load_model(const ModelChoice& choice);
/// The model, or all of the ensemble.
predict::Predictor load_predictor(const ModelChoice& choice);

/// Throws ErrorKind::missing if the file does not exist. "-" is standard input, returned as a path that can be read.
std::string readable(const std::string& path);

}  // namespace heed::cli
