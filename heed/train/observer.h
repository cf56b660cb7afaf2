// Observers of a training run: a progress bar, a log, TensorBoard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/task/suggestion.h"
#include "heed/train/evaluation.h"
#include "heed/train/step_report.h"

namespace heed::train {

/// Known before the first update.
struct Started {
  std::string folder;
  std::string model;  // its encoder and decoder: "transformer" if they are of one kind, otherwise "rnn-transformer"
  int64_t parameters = 0;
  int64_t examples = 0, valid_examples = 0;
  int64_t source_tokens = 0, target_tokens = 0;  // of the vocabularies
  int64_t updates_per_epoch = 0;
  int64_t resumed_from = 0;                            // updates done before; 0: a new run
  std::string example = "pair", prediction = "token";  // what the task calls them, in the singular
  int64_t labels = 0;                                  // different ones; 0: the outputs are no labels
};

/// How far a training run is.
struct Progress {
  double seconds = 0;            // of training so far, including those before an interruption
  double tokens_per_second = 0;  // predictions (target tokens, labelled texts), recently
  double share = 0;              // of the work, from 0 to 1, by the limits; 0 if only patience ends it
  double seconds_left = -1;      // -1: unknown
};

struct Validated {
  int64_t step = 0;
  Evaluation evaluation;
  double value = 0;      // of the recipe's metric
  bool is_best = false;  // so far
  int64_t waited = 0;    // validations since the best one
};

enum class Ending { steps, epochs, minutes, patience, stopped };

struct Finished {
  Ending ending = Ending::steps;
  int64_t step = 0;
  double seconds = 0;
  int64_t skipped = 0;      // updates skipped in this run because something was not finite
  std::string best = {};    // name of the best checkpoint; empty if nothing was validated
  std::string metric = {};  // that chose it
  double best_value = 0;
  int64_t best_step = 0;
};

/// Every function does nothing by default.
/// Threads: called by the training thread, one call after the other.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void preparing(const std::string& /*what*/) {}  // "reading the data": may take a while
  // What the data was taken for, if that was not given; which words of the recipe are called otherwise now.
  virtual void saw(const std::string& /*what*/) {}
  virtual void chose(const std::vector<task::Suggestion>&) {}  // for keys that the recipe left open
  virtual void started(const Started&) {}
  virtual void warned(const std::string& /*text*/) {}  // skipped lines, a damaged checkpoint, a full disk
  virtual void stepped(const StepReport&, const Progress&) {}
  virtual void skipped(const StepReport&) {}  // an update was skipped; stepped() is not called for it
  virtual void validating(int64_t /*step*/) {}
  virtual void validated(const Validated&, const Progress&) {}
  virtual void saved(const std::string& /*checkpoint*/, bool /*is_best*/) {}
  virtual void finished(const Finished&) {}
};

}  // namespace heed::train
