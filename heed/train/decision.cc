#include "heed/train/decision.h"

#include <cmath>

namespace heed::train {

namespace {

constexpr int64_t kLastTries = 2;  // to write the last checkpoint: the disk may have been full for a moment

/// Which limit was reached, if any.
std::optional<Ending> reached(const recipe::StopOptions& stop, const RunFacts& f) {
  if (f.ending) return f.ending;
  if (f.stop_asked) return Ending::stopped;
  if (stop.steps > 0 && f.step >= stop.steps) return Ending::steps;
  if (stop.epochs > 0 && f.epoch >= stop.epochs) return Ending::epochs;
  if (stop.minutes > 0 && f.seconds >= 60 * stop.minutes) return Ending::minutes;
  if (stop.patience > 0 && f.waited >= stop.patience) return Ending::patience;
  return {};
}

}  // namespace

std::string reason_to_skip(double loss, double gradient_norm) {
  if (!std::isfinite(gradient_norm)) return "the gradient is not finite";
  if (!std::isfinite(loss)) return "the loss is not finite";
  return "";
}

Decision decide(const RunLimits& limits, const RunFacts& f) {
  const std::optional<Ending> ending = reached(limits.stop, f);
  const bool updated = f.step > f.first_step, unsaved = f.saved_step != f.step,
             unvalidated = f.validated_step != f.step;
  const bool due = updated && f.step % limits.validate_every == 0;
  if (due && unvalidated) return {.validate = true, .ending = ending};
  const bool too_long = limits.checkpoint_minutes > 0 && f.seconds_unsaved >= 60 * limits.checkpoint_minutes;
  if (updated && unsaved && too_long && f.failed_saves == 0) return {.save = true, .ending = ending};
  if (!ending) return {};
  // Who asks to stop does not want to wait for a validation that is not due.
  if (*ending != Ending::stopped && unvalidated) return {.validate = true, .ending = ending};
  return {.save = unsaved && f.failed_saves < kLastTries, .ending = ending};
}

}  // namespace heed::train
