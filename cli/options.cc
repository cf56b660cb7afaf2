#include "cli/options.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/run_folder.h"

namespace heed::cli {

namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

void add_threads(Verb verb) {
  verb.option("--threads", omp_set_num_threads, "Number of threads (default: OMP_NUM_THREADS, or all cores)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1024});
}

void add_json(Verb verb, bool& json, const std::string& meaning) { verb.flag("--json", json, meaning); }

void add_seed(Verb verb, uint64_t& seed, const std::string& meaning) {
  verb.option("--seed", seed, fmt::format("{} (default {})", meaning, seed))
      .value("N")
      .from_to(uint64_t{0}, std::numeric_limits<uint64_t>::max());
}

void add_stride(Verb verb, int64_t& stride) {
  verb.option("--stride", stride,
              "Transformers of running text: tokens from one window of model.context tokens to the next (default: half "
              "a window)")
      .value("N")
      .from_to(int64_t{1}, task::kLongest);
}

void add_model(Verb verb, ModelChoice& choice, bool required) {
  verb.option("MODEL", choice.folder, "A training folder, a checkpoint, or a file from heed export")
      .value("")
      .required(required);
  verb.option("--checkpoint", choice.checkpoint,
              "Which checkpoint of the folder: best, last, or a name such as step-000500 (default best)")
      .value("NAME")
      .offer({"best", "last"});
}

void add_precision(Verb verb, ModelChoice& choice) {
  verb.option(
          "--precision", choice.precision,
          "Weights in memory: float32; bfloat16, half of it; int8, a quarter and faster; the last two may change an "
          "output a little (default stored: as the file has them)")
      .value("NAME")
      .one_of("precision", trained::precisions());
}

void add_ensemble(Verb verb, ModelChoice& choice) {
  const Option ensemble =
      verb.option("--ensemble", choice.ensemble,
                  "More models that write together with MODEL; of any kind, but with the same target vocabulary")
          .value("MODELS")
          .repeated(',');
  verb.option("--ensemble-mean", choice.mean,
              "What the models agree on: the mean of their log_probabilities (default), or of their probabilities")
      .value("MEAN")
      .one_of("mean", words_of(search::kMeans))
      .needs(ensemble);
}

namespace {

std::vector<std::string> checkpoints_of(const std::filesystem::path& folder) {
  std::vector<std::string> names = file::RunFolder(folder).names();
  names.insert(names.begin(), {"best", "last"});
  return names;
}

void expect_there(const ModelChoice& choice) {
  if (!is_there(choice.folder)) throw Error(ErrorKind::missing, fmt::format("there is no model '{}'", choice.folder));
  std::error_code ignored;
  if (!std::filesystem::is_directory(choice.folder, ignored)) return;  // a file from heed export, or not a model at all
  if (is_there(std::filesystem::path(choice.folder) / "MANIFEST.json")) return;
  const std::vector<std::string> names = checkpoints_of(choice.folder);
  if (names.size() == 2) throw Error(ErrorKind::file, fmt::format("'{}' holds no checkpoint", choice.folder));
  if (const std::string wrong = complaint("checkpoint", choice.checkpoint, names); !wrong.empty())
    throw Error(ErrorKind::missing, fmt::format("'{}': {}", choice.folder, wrong));
}

}  // namespace

void with_checkpoint(const ModelChoice& choice, const std::function<void(const file::Checkpoint&)>& use) {
  expect_there(choice);
  trained::with_checkpoint(choice.folder, choice.checkpoint, use);
}

std::vector<std::string> checkpoints_in_order(const std::string& folder) {
  expect_there({.folder = folder});
  std::vector<std::string> names;
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored) && !is_there(std::filesystem::path(folder) / "MANIFEST.json"))
    names = file::RunFolder(folder).names();
  if (names.empty()) throw Error(fmt::format("'{}' is one model, not a training's folder with checkpoints", folder));
  std::sort(names.begin(), names.end());  // by their updates: the numbers have zeros before them
  return names;
}

trained::TrainedModel load_model(const ModelChoice& choice) {
  trained::TrainedModel trained;
  with_checkpoint(choice, [&](const file::Checkpoint& checkpoint) {
    trained = trained::load_to_run(checkpoint, choice.precision);
  });
  return trained;
}

predict::Predictor load_predictor(const ModelChoice& choice) {
  std::vector<trained::TrainedModel> models;
  models.push_back(load_model(choice));
  for (const std::string& folder : choice.ensemble)
    models.push_back(load_model({.folder = folder, .checkpoint = choice.checkpoint, .precision = choice.precision}));
  return predict::Predictor(std::move(models), value_of(search::kMeans, choice.mean, "--ensemble-mean"));
}

std::string readable(const std::string& path) {
  if (path == "-") return "/dev/stdin";
  if (!is_there(path)) throw Error(ErrorKind::missing, fmt::format("there is no file '{}'", path));
  return path;
}

}  // namespace heed::cli
