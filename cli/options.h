// Options that several verbs have, so that they are called, checked and explained the same everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/train/load_model.h"

namespace heed::cli {

/// A number from `least` to `most`. The help stays short: the message that refuses another names both.
template <class Number>
CLI::Validator in_range(Number least, Number most) {
  return CLI::Range(least, most).description("");
}

/// --threads N: holds for all that the verb does.
void add_threads(CLI::App& verb);
void add_json(CLI::App& verb, bool& json, const std::string& meaning = "As JSON");
void add_seed(CLI::App& verb, uint64_t& seed, const std::string& meaning);

/// Only these words; another is refused with the nearest. The completions of the shells offer them.
CLI::Option* one_of(CLI::Option* option, const char* what, std::vector<std::string> words);

/// Words that completions offer for an option, checked or not.
CLI::Option* offer(CLI::Option* option, std::vector<std::string> words);
std::span<const std::string> offered(const CLI::Option* option);

/// A trained model: MODEL, and --checkpoint for one of its folder.
struct ModelChoice {
  std::string folder;
  std::string checkpoint = "best";
};
void add_model(CLI::App& verb, ModelChoice& choice, bool required = true);

/// Ends the program with its own code where the model is not there or cannot be used.
file::Checkpoint open_checkpoint(const ModelChoice& choice);
train::TrainedModel load_model(const ModelChoice& choice);

/// Throws kNoInput where the file is not there. "-" is standard input, which comes back as a path that can be read.
std::string readable(const std::string& path);

}  // namespace heed::cli
