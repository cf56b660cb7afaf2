// Training runs: heed/train for Python. What users see is python/heed/_train.py.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "data_files.h"
#include "heed/train/event_file.h"
#include "heed/train/event_lines.h"
#include "heed/train/log.h"
#include "heed/train/objective/reward.h"
#include "heed/train/pairs_file.h"
#include "heed/train/session.h"

namespace heed::python {
namespace {

/// A Python function as a reward. What it raises ends the run, and is raised again afterwards.
class Reward final : public Function {
 public:
  using Function::Function;

  objective::RewardFunction function() {
    if (function_.is_none()) return {};
    return [this](std::span<const objective::RewardCase> cases) {
      const py::gil_scoped_acquire acquire;
      std::vector<double> rewards;
      rewards.reserve(cases.size());
      try {
        for (const objective::RewardCase& each : cases)
          rewards.push_back(function_(each.source, each.output, each.references).cast<double>());
      } catch (py::error_already_set& error) {
        raised_.emplace(std::move(error));
        throw Error("train: the function for rewards raised an exception");
      } catch (const py::cast_error&) {
        throw Error("train: the function for rewards must return a number");
      }
      return rewards;
    };
  }
};

/// What Python calls during a run: `event` with every event, `reward` (or None) with every output that is judged.
struct Functions {
  py::object event, reward;
};

struct TrainingRun {
  recipe::DataFiles files;
  std::vector<std::string> settings;
  std::string folder;
  std::string from;
  bool resume = false;
};

void train(const TrainingRun& given, const Functions& functions) {
  Callback callback(functions.event);
  Reward reward(functions.reward);
  try {
    const py::gil_scoped_release release;
    const Threads some;
    const auto precedent = train::precedent_of({.resume = given.resume, .from = given.from}, given.folder);
    auto [recipe, seen] = recipe::recipe_of_files(given.files, given.settings, precedent ? &*precedent : nullptr);
    recipe.output.folder = given.folder;
    recipe.open.erase("output.folder");
    train::EventLines events(1, [&](const std::string& line) { callback.call(line); });
    train::Log log(std::filesystem::path(given.folder) / "log.jsonl", recipe.output.log_every);
    train::EventFile curves(given.folder, recipe.output.log_every);
    train::run_session(recipe, {.resume = given.resume,
                                .from = given.from,
                                .seen = seen,
                                .stop = &callback.stop,
                                .observers = {&events, &log, &curves},
                                .reward = reward.function()});
  } catch (...) {
    reward.raise_again();
    throw;
  }
  callback.raise_again();
}

py::bytes write_pairs(const std::vector<std::pair<std::string, std::string>>& pairs, const std::string& folder,
                      const std::string& name) {
  return py::bytes(run([&] {
    std::vector<task::TextPair> texts;
    texts.reserve(pairs.size());
    for (const auto& [source, target] : pairs) texts.push_back({source, target});
    return train::write_pairs(texts, folder, name).string();
  }));
}

py::bytes write_text(const std::string& text, const std::string& folder, const std::string& name) {
  return py::bytes(run([&] { return train::write_text(text, folder, name).string(); }));
}

}  // namespace

void define_train(py::module_& m) {
  m.def("write_pairs", &write_pairs, py::arg("pairs"), py::arg("folder"), py::arg("name"));
  m.def("write_text", &write_text, py::arg("text"), py::arg("folder"), py::arg("name"));
  m.def(
      "train",
      [](const py::dict& files, std::vector<std::string> settings, std::string folder, std::string from, bool resume,
         py::object callback, py::object reward) {
        train({data_files(files), std::move(settings), std::move(folder), std::move(from), resume},
              {std::move(callback), std::move(reward)});
      },
      py::arg("files"), py::arg("settings"), py::arg("folder"), py::arg("from_model"), py::arg("resume"),
      py::arg("callback"), py::arg("reward"));
}

}  // namespace heed::python
