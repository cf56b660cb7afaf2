// A trained model that answers lines of text with lines of text:
//
//   const heed::predict::Predictor model = heed::predict::load("en-de");
//   std::puts(model.predict("A dog runs.", {.beam = 5}).text().c_str());
//
// The program heed, Python's heed.load() and examples/translate.cpp all ask through this.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"

namespace heed::search {
class TapePool;
}
namespace heed::text {
class Tokeniser;
}
namespace heed::trained {
struct TrainedModel;
}

namespace heed::predict {

using task::Link;
using task::Output;
using task::PairScore;
using task::pharaoh;
using task::Prediction;
using task::TextPair;
using Options = task::PredictOptions;

/// Threads: any number may ask at once.
class Predictor {
 public:
  explicit Predictor(trained::TrainedModel trained);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// One line; its end (\n, \r\n, \r) does not count. Throws Error where the options have no meaning; what is wrong
  /// with the line is told by Prediction::error.
  ///
  /// A line's output depends neither on the lines beside it nor on the number of threads.
  Prediction predict(std::string_view line, const Options& options = {}) const;

  /// [lines] -> [lines], in the same order. There may be many: they are cut into batches of like lengths, which is
  /// faster than one after the other.
  std::vector<Prediction> predict_all(std::span<const std::string> lines, const Options& options = {}) const;

  /// Throws Error, which begins with the name of an option, where they do not go together or the model cannot do that.
  void check(const Options& options) const;

  /// [pairs] -> [pairs]: how likely the model finds each target, given its source.
  std::vector<PairScore> score_all(std::span<const TextPair> pairs) const;

  const trained::TrainedModel& model() const { return *trained_; }
  const text::Tokeniser& source() const;
  const text::Tokeniser& target() const;

 private:
  std::unique_ptr<trained::TrainedModel> trained_;
  std::unique_ptr<search::TapePool> tapes_;
};

/// `folder`: of a training, one checkpoint of it, or a file that `heed export` wrote. `checkpoint`, of a training:
/// "best" (where none was marked: the newest good one), "last", or the name of one. Throws Error where it is not there
/// or is damaged.
Predictor load(const std::filesystem::path& folder, std::string_view checkpoint = "best");

}  // namespace heed::predict
