// Options that several verbs have, so that they are called, checked and explained the same everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/arguments.h"
#include "heed/trained/trained_model.h"

namespace heed::cli {

/// --threads N: holds for all that the verb does.
void add_threads(Verb verb);
void add_json(Verb verb, bool& json, const std::string& meaning = "As JSON");
void add_seed(Verb verb, uint64_t& seed, const std::string& meaning);

/// A trained model: MODEL, and --checkpoint for one of its folder.
struct ModelChoice {
  std::string folder;
  std::string checkpoint = "best";
};
void add_model(Verb verb, ModelChoice& choice, bool required = true);

/// Ends the program with its own code where the model is not there or cannot be used.
void with_checkpoint(const ModelChoice& choice, const std::function<void(const file::Checkpoint&)>& use);
trained::TrainedModel load_model(const ModelChoice& choice);

/// Throws kNoInput where the file is not there. "-" is standard input, which comes back as a path that can be read.
std::string readable(const std::string& path);

}  // namespace heed::cli
