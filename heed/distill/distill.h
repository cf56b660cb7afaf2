// Sequence-level knowledge distillation: the targets of a recipe's training data, written anew by a trained model. A
// model that learns from them has an easier task: the teacher says the same thing in the same way.
//
//   Kim and Rush 2016: Sequence-level knowledge distillation
//
// The folder that is written:
//
//   train.source, train.target    the pairs, line by line; the targets are those of the teacher
//   valid.source, valid.target    the pairs to validate on, as they were
//   recipe.toml                   the recipe, on these files
//   distilled.json                what was done, and with what
//   parts/                        while it runs: what is done, so that it can go on from there
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/predict/predictor.h"
#include "heed/train/recipe/recipe.h"

namespace heed::distill {

struct Progress {
  int64_t pairs = 0;    // of the training data
  int64_t done = 0;     // of them
  int64_t found = 0;    // of those done, by an earlier run
  int64_t kept = 0;     // of those done: their target stayed, because the teacher has no answer
  int64_t changed = 0;  // of those done: the target of the teacher is another one
};

struct Options {
  std::filesystem::path folder;             // to write to; one with the parts of the same work is continued
  int64_t part = 256;                       // pairs that are answered and saved together: an interruption costs as much
  predict::Options search = {.beam = 5};    // how the teacher answers
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C: what is done is kept
  std::function<void(const Progress&)> tell;  // after each part
};

struct Distilled {
  Progress progress;
  bool complete = false;              // otherwise it was stopped: the same call goes on
  std::vector<std::string> warnings;  // about lines that cannot be used
};

/// Throws Error if the recipe or the teacher is not about pairs, or if the folder holds something else.
Distilled distill(const predict::Predictor& teacher, const recipe::Recipe& recipe, const Options& options);

}  // namespace heed::distill
