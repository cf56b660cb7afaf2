// A trained model that answers lines of text with lines of text:
//
//   const heed::predict::Predictor model = heed::predict::load("en-de");
//   std::puts(model.predict("A dog runs.", {.beam = 5}).text().c_str());
//
// The program heed, Python's heed.load() and examples/translate.cpp all ask through this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/predict/options.h"
#include "heed/search/tapes.h"
#include "heed/train/load_model.h"

namespace heed::predict {

/// A token of the output and the source token that it looked at most, both from 0.
struct Link {
  int64_t source = 0, target = 0;
  bool operator==(const Link&) const = default;
};

struct Output {
  std::string text = {};
  double score = 0.0;                    // what outputs are ranked by: log_probability / length penalty + coverage
  double log_probability = 0.0;          // of the tokens, and of the end where it came
  bool finished = false;                 // the end came within the longest output
  std::vector<std::string> tokens = {};  // as the vocabulary spells them
  std::vector<float> token_log_probabilities = {};  // [tokens], and that of the end last, where it came
  std::vector<std::vector<float>> alignment = {};   // [tokens][source tokens]; empty where it was not asked for

  std::vector<Link> links() const;  // [tokens]; none without an alignment
};

/// Links as "0-0 2-1", source first.
std::string pharaoh(const Output& output);

/// What became of a line.
struct Prediction {
  std::string error;                       // why there is no output: bytes that are no UTF-8, too long; else empty
  std::vector<std::string> source_tokens;  // as the vocabulary spells them
  std::vector<Output> nbest;               // [nbest], the best first; none for a line without tokens or with an error

  /// Of the best output; nothing where there is none.
  const std::string& text() const;
};

class Predictor {
 public:
  explicit Predictor(train::TrainedModel trained);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// One line; its end (\n, \r\n, \r) does not count. Throws Error where the options have no meaning; what is wrong
  /// with the line is told by Prediction::error.
  ///
  /// A line's output depends neither on the lines beside it nor on the number of threads. Any number of threads may ask
  /// at once.
  Prediction predict(std::string_view line, const Options& options = {}) const;

  /// [lines] -> [lines], in the same order. There may be many: they are cut into batches of like lengths, which is
  /// faster than one after the other.
  std::vector<Prediction> predict_all(std::span<const std::string> lines, const Options& options = {}) const;

  const train::TrainedModel& model() const { return trained_; }
  const Tokeniser& source() const { return *trained_.vocabularies.source; }
  const Tokeniser& target() const { return *trained_.vocabularies.target; }

 private:
  struct Asked;
  std::vector<int32_t> read(std::string_view line, Prediction& prediction) const;
  void search(std::span<const Asked> asked, const search::Options& options) const;
  Output output_of(search::Hypothesis&& hypothesis) const;

  train::TrainedModel trained_;
  std::unique_ptr<search::Tapes> tapes_;
};

/// `folder`: of a training, or one checkpoint of it. `checkpoint`: "best" (where none was marked: the newest good one),
/// "last", or the name of one. Throws Error where it is not there or is damaged.
Predictor load(const std::filesystem::path& folder, std::string_view checkpoint = "best");

}  // namespace heed::predict
