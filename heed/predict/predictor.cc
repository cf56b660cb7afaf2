#include "heed/predict/predictor.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/model/search/search_tree.h"
#include "heed/model/search/tape_pool.h"
#include "heed/predict/ensemble_check.h"
#include "heed/task/rerank.h"
#include "heed/tensor/tape.h"

namespace heed::predict {

namespace {

std::vector<trained::TrainedModel> only(trained::TrainedModel trained) {
  std::vector<trained::TrainedModel> models;
  models.push_back(std::move(trained));
  return models;
}

}  // namespace

Predictor::Predictor(trained::TrainedModel trained) : Predictor(only(std::move(trained))) {}

Predictor::Predictor(std::vector<trained::TrainedModel> models, Mean mean)
    : models_(std::move(models)), mean_(mean), tapes_(std::make_unique<search::TapePool>()) {
  expect(!models_.empty(), "ensemble: there is no model in it");
  for (size_t m = 1; m < models_.size(); ++m) {
    expect_same_outputs(models_[0], models_[m], m + 1);
    same_sources_ = same_sources_ && read_the_same(models_[0], models_[m]);
  }
  // Throws if HEED_ISA names what cannot run: here, not as an error of every line.
  const Tape tape({.recording = false, .training = false});
}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Predictor load(const std::filesystem::path& folder, std::string_view checkpoint) {
  return load({folder}, {.checkpoint = std::string(checkpoint)});
}

Predictor load(std::initializer_list<std::filesystem::path> folders, const LoadOptions& options) {
  return load(std::span<const std::filesystem::path>(folders.begin(), folders.size()), options);
}

Predictor load(std::span<const std::filesystem::path> folders, const LoadOptions& options) {
  std::vector<trained::TrainedModel> models;
  for (const std::filesystem::path& folder : folders)
    models.push_back(trained::load_to_run(folder, options.checkpoint, options.precision));
  return Predictor(std::move(models), options.mean);
}

namespace {

/// Whether it fits the model's windows is up to the task.
void expect_stride_fits(int64_t stride, const task::Task& task) {
  expect(stride == 0 || task.answers() == task::AnswerKind::continuation,
         "stride {} is for models of running text, which read it in windows", stride);
}

}  // namespace

task::LoadedModel Predictor::loaded() const {
  task::LoadedModel all = models_[0].loaded(*tapes_);
  for (size_t m = 1; m < models_.size(); ++m) all.others.push_back(models_[m].loaded(*tapes_));
  all.mean = mean_;
  all.same_sources = same_sources_;
  return all;
}

Prediction Predictor::predict(std::string_view line, const Options& options) const {
  const std::string lines[] = {std::string(line)};
  return std::move(predict_all(lines, options).front());
}

std::vector<Prediction> Predictor::predict_all(std::span<const std::string> lines, const Options& options) const {
  expect(!options.tree || lines.size() <= 1, "tree is of one line, not of {}", lines.size());
  if (options.tree) *options.tree = {};  // nothing of an earlier line, if this one has no search
  const task::Task& task = model().task();
  expect_stride_fits(options.stride, task);
  const Options of_candidates = task::candidate_options(options);
  std::vector<Prediction> found = task.predict(loaded(), lines, of_candidates);
  if (task::wants_reranking(options)) task::rerank(found, lines, options);
  return found;
}

void Predictor::check(const Options& options) const {
  Options without_lines = options;
  without_lines.line_rules.clear();
  predict_all({}, without_lines);
}

std::vector<PairScore> Predictor::score_all(std::span<const TextPair> pairs, const ScoreOptions& options) const {
  expect_stride_fits(options.stride, model().task());
  task::LoadedModel asked = loaded();
  asked.stride = options.stride;
  return model().task().score(asked, pairs);
}

const trained::TrainedModel& Predictor::model() const { return models_.front(); }
size_t Predictor::models() const { return models_.size(); }
const text::Tokeniser& Predictor::source() const { return *model().vocabularies.source; }
const text::Tokeniser& Predictor::target() const { return *model().vocabularies.target; }

}  // namespace heed::predict
