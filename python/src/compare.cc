// Comparisons: heed/compare for Python. What users see is python/heed/_compare.py.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "data_files.h"
#include "heed/base/json.h"
#include "heed/compare/comparison.h"
#include "heed/data/built_in_task.h"
#include "heed/train/event_lines.h"
#include "heed/train/recipe/built_in.h"

namespace heed::python {
namespace {

/// The beginning and the end of every run, as JSON.
class RunLines final : public compare::ComparisonObserver {
 public:
  explicit RunLines(Callback& callback) : callback_(callback) {}

  void run_begins(const compare::Variant& variant, uint64_t seed, const compare::Table& so_far) override {
    tell(file::Json::object({{"event", "run"},
                             {"variant", variant.name},
                             {"seed", seed},
                             {"run", so_far.done + 1},
                             {"runs", so_far.runs}}));
  }
  void run_ended(const compare::Variant& variant, uint64_t seed, const compare::Result& result,
                 const compare::Table& so_far) override {
    file::Json event = file::Json::object({{"event", "result"},
                                           {"variant", variant.name},
                                           {"seed", seed},
                                           {"run", so_far.done},
                                           {"runs", so_far.runs},
                                           {"error", result.error}});
    if (result.error.empty()) {
      event["metric"] = result.metric_name;
      event["value"] = result.value;
      event["loss"] = result.loss;
      event["seconds"] = result.seconds;
    }
    tell(event);
  }

 private:
  void tell(const file::Json& event) { callback_.call(event.line()); }

  Callback& callback_;
};

/// Where the recipe comes from: a built-in task, a TOML file, or the settings name the data. Nothing
/// at all: the plan in the folder.
struct Origin {
  std::string task;
  recipe::DataFiles files;
  std::vector<std::string> settings;
  bool resume = false, same_time = false;

  bool is_empty() const { return task.empty() && files.train.empty() && files.recipe.empty() && settings.empty(); }
  recipe::Understood read() const {
    if (!task.empty()) return {recipe::recipe_for_task(task, settings)};
    return recipe::recipe_of_files(files, settings);
  }
};

compare::Plan plan_of(const Origin& origin, const compare::Request& request, const std::string& folder,
                      train::TrainingObserver& events) {
  if (origin.is_empty()) return compare::load_plan(folder);
  const auto [recipe, seen] = origin.read();
  if (!seen.empty()) events.saw(seen);
  for (const std::string& note : recipe.notes) events.saw(note);
  compare::check_request(recipe, request);
  std::optional<compare::PlanBase> base;
  if (origin.resume) base = compare::settled_before(recipe, folder);
  const compare::Same same = origin.same_time ? compare::Same::time : compare::Same::updates;
  return compare::make_plan(base ? *base : compare::settle(recipe, same), request);
}

/// Whether it was stopped. The files are in the folder.
bool compare_variants(const Origin& origin, const compare::Request& request, const std::string& folder, bool resume,
                      const py::object& function) {
  Callback callback(function);
  bool stopped = false;
  {
    const py::gil_scoped_release release;
    const Threads some;
    train::EventLines events(1, [&](const std::string& line) { callback.call(line); });
    const compare::Plan plan = plan_of(origin, request, folder, events);
    RunLines runs(callback);
    stopped =
        compare::compare(
            plan, {.folder = folder, .resume = resume, .stop = &callback.stop, .observer = &runs, .of_runs = {&events}})
            .stopped;
  }
  callback.raise_again();
  return stopped;
}

}  // namespace

void define_compare(py::module_& m) {
  m.def("built_in_tasks", [] { return data::built_in_tasks().names(); });
  m.def(
      "compare",
      [](const std::string& task, const py::dict& files, const std::vector<std::string>& settings,
         const std::vector<std::string>& attention, const std::vector<std::string>& over, int64_t seeds,
         const std::string& folder, bool resume, bool same_time, const py::object& callback) {
        return compare_variants({task, data_files(files), settings, resume, same_time},
                                {.attention = attention, .over = over, .seeds = seeds}, folder, resume, callback);
      },
      py::arg("task"), py::arg("files"), py::arg("settings"), py::arg("attention"), py::arg("over"), py::arg("seeds"),
      py::arg("folder"), py::arg("resume"), py::arg("same_time"), py::arg("callback"));
}

}  // namespace heed::python
