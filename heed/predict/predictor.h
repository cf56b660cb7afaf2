// A trained model that answers lines of text with lines of text:
//
//   const heed::predict::Predictor model = heed::predict::load("en-de");
//   std::puts(model.predict("A dog runs.", {.beam = 5}).text().c_str());
//
// The program heed, Python's heed.load() and examples/translate.cpp all use this.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/search/ensemble_mean.h"
#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"

namespace heed::search {
class TapePool;
}
namespace heed::task {
struct LoadedModel;
}
namespace heed::text {
class Tokeniser;
}
namespace heed::trained {
struct TrainedModel;
}

namespace heed::predict {

using task::LineRules;
using task::Link;
using task::missing_text;
using task::Output;
using task::PairScore;
using task::pharaoh;
using task::Prediction;
using task::ScoreOptions;
using task::TextPair;
using Options = task::PredictOptions;
using search::Mean;

struct LoadOptions {
  std::string checkpoint = "best";      // of each model: see load()
  Mean mean = Mean::log_probabilities;  // of an ensemble
  /// Of the weights in memory: "float32"; "bfloat16" for half of it; "int8" for a quarter, and faster products; with
  /// the last two, outputs may differ a little. "stored": as the file has them. All else is computed in float32.
  std::string precision = "stored";
};

/// Threads: any number at once.
class Predictor {
 public:
  explicit Predictor(trained::TrainedModel trained);
  /// An ensemble: they write together, step by step. They must do the same task, which is not to give labels, and write
  /// the same tokens; the message names the first difference.
  explicit Predictor(std::vector<trained::TrainedModel> models, Mean mean = Mean::log_probabilities);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// One line; its end (\n, \r\n, \r) is ignored. Throws Error for invalid options; Prediction::error says what is
  /// wrong with the line. Throws std::bad_alloc if there is not enough memory for it.
  ///
  /// A line's output depends neither on the other lines nor on the number of threads.
  Prediction predict(std::string_view line, const Options& options = {}) const;

  /// [lines] -> [lines], in the same order. There may be many: batches of similar lengths are faster than one line
  /// after the other.
  std::vector<Prediction> predict_all(std::span<const std::string> lines, const Options& options = {}) const;

  /// Throws Error if the options cannot be combined or the model does not support them. The message begins with the
  /// name of an option.
  void check(const Options& options) const;

  /// [pairs] -> [pairs]: the probability of each target, given its source.
  std::vector<PairScore> score_all(std::span<const TextPair> pairs, const ScoreOptions& options = {}) const;

  /// The first of an ensemble.
  const trained::TrainedModel& model() const;
  size_t models() const;
  const text::Tokeniser& source() const;
  const text::Tokeniser& target() const;

 private:
  task::LoadedModel loaded() const;

  std::vector<trained::TrainedModel> models_;
  Mean mean_ = Mean::log_probabilities;
  bool same_sources_ = true;  // all models cut sources into the same tokens
  std::unique_ptr<search::TapePool> tapes_;
};

/// `folder`: a training folder, one of its checkpoints, or a file from `heed export`. `checkpoint`, for a training
/// folder: "best" (if none was marked: the newest good one), "last", or a name. Throws Error if it does not exist or is
/// damaged.
Predictor load(const std::filesystem::path& folder, std::string_view checkpoint = "best");

/// An ensemble of several: load({"en-de", "en-de-rnn"}). Of one it is that model.
Predictor load(std::initializer_list<std::filesystem::path> folders, const LoadOptions& options = {});
Predictor load(std::span<const std::filesystem::path> folders, const LoadOptions& options = {});

}  // namespace heed::predict
