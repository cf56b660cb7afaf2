#include "heed/compare/run.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <string>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/compare/measure.h"
#include "heed/train/event_file.h"
#include "heed/train/log.h"
#include "heed/train/session.h"

namespace heed::compare {

namespace {

/// Speed and memory of the updates. A resumed run measures those that it still had to do.
class UpdateMeter final : public train::TrainingObserver {
 public:
  void stepped(const train::StepReport& report, const train::Progress&) override {
    predictions_ += static_cast<double>(report.tokens);
    seconds_ += report.seconds;
    memory_ = std::max(memory_, report.memory);
  }
  void add_to(Result& result) const {
    if (seconds_ > 0) result.training_speed = predictions_ / seconds_;
    if (memory_ > 0) result.training_memory = memory_;
  }

 private:
  double predictions_ = 0, seconds_ = 0;
  int64_t memory_ = 0;
};

/// What concerns this variant alone; anything else would go wrong in every run.
bool is_of_this_run(const std::exception& error) {
  switch (kind_of(error)) {
    case ErrorKind::usage:
    case ErrorKind::recipe:
    case ErrorKind::data:
    case ErrorKind::no_memory:
      return true;
    default:
      return false;
  }
}

std::optional<Result> train_and_measure(const recipe::Recipe& recipe, const RunOptions& options) {
  const std::filesystem::path folder = recipe.output.folder;
  train::Log log(folder / "log.jsonl", recipe.output.log_every);
  train::EventFile events(folder, recipe.output.log_every);
  UpdateMeter meter;
  task::Corpus corpus;
  train::SessionOptions session{
      .resume = true, .stop = options.stop, .observers = {&meter, &log, &events}, .corpus = &corpus};
  session.observers.insert(session.observers.end(), options.observers.begin(), options.observers.end());
  const train::Finished finished = train::run_session(recipe, session);
  if (finished.ending == train::Ending::stopped) return {};
  Result result = measure(folder, corpus);
  if (!result.error.empty()) return result;
  result.updates = finished.step;
  result.seconds = finished.seconds;
  meter.add_to(result);
  return result;
}

}  // namespace

std::optional<Result> run(const recipe::Recipe& recipe, const RunOptions& options) {
  const std::filesystem::path folder = recipe.output.folder;
  if (std::optional<Result> done = load_result(folder)) return done;
  std::optional<Result> result;
  try {
    result = train_and_measure(recipe, options);
  } catch (const std::bad_alloc& error) {
    return Result{.error = memory_text(error)};  // not saved: there may be more memory next time
  } catch (const Error& error) {
    if (!is_of_this_run(error)) throw;
    result = Result{.error = error.what()};
  }
  if (result) save_result(*result, folder);
  return result;
}

}  // namespace heed::compare
