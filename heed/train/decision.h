// What a training run does next, and whether it makes an update: decided here, from facts alone. Whoever takes part in
// a run follows the same decision; nobody looks at a clock or at a signal a second time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/train/observer.h"
#include "heed/train/recipe/options.h"

namespace heed::train {

/// Why an update is not made: what was not finite. Empty: it is made.
std::string reason_to_skip(double loss, double gradient_norm);

/// What may end a run, and when it is validated and saved.
struct RunLimits {
  recipe::StopOptions stop;
  int64_t validate_every = 500;    // updates
  double checkpoint_minutes = 10;  // 0: only after a validation and at the end
};

/// How far a run is.
struct RunFacts {
  int64_t step = 0, epoch = 0;        // finished ones
  int64_t first_step = 0;             // updates before this run: what was due then is done
  double seconds = 0;                 // of training, including those before an interruption
  double seconds_unsaved = 0;         // since the last checkpoint, or the last attempt to write one
  int64_t waited = 0;                 // validations since the best one
  int64_t validated_step = -1;        // the last update that was validated
  int64_t saved_step = -1;            // the last one with a checkpoint
  int64_t failed_saves = 0;           // since the last update
  bool stop_asked = false;            // by the user
  std::optional<Ending> ending = {};  // decided before: it stays
};

/// At most one of `validate` and `save`. With neither: an update, or nothing more if there is an ending.
struct Decision {
  bool validate = false;  // and save
  bool save = false;
  std::optional<Ending> ending = {};
};

Decision decide(const RunLimits& limits, const RunFacts& facts);

}  // namespace heed::train
