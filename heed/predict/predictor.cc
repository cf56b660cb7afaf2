#include "heed/predict/predictor.h"

#include <utility>

#include "heed/search/tape_pool.h"
#include "heed/tensor/tape.h"
#include "heed/trained/trained_model.h"

namespace heed::predict {

Predictor::Predictor(trained::TrainedModel trained)
    : trained_(std::make_unique<trained::TrainedModel>(std::move(trained))),
      tapes_(std::make_unique<search::TapePool>()) {
  // Throws if HEED_ISA names what cannot run: here, not as an error of every line.
  const Tape tape({.recording = false, .training = false});
}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Predictor load(const std::filesystem::path& folder, std::string_view checkpoint) {
  return Predictor(trained::load_model(folder, checkpoint));
}

Prediction Predictor::predict(std::string_view line, const Options& options) const {
  const std::string lines[] = {std::string(line)};
  return std::move(predict_all(lines, options).front());
}

std::vector<Prediction> Predictor::predict_all(std::span<const std::string> lines, const Options& options) const {
  return trained_->recipe.task().predict(trained_->answering(*tapes_), lines, options);
}

void Predictor::check(const Options& options) const { predict_all({}, options); }

std::vector<PairScore> Predictor::score_all(std::span<const TextPair> pairs) const {
  return trained_->recipe.task().score(trained_->answering(*tapes_), pairs);
}

const text::Tokeniser& Predictor::source() const { return *trained_->vocabularies.source; }
const text::Tokeniser& Predictor::target() const { return *trained_->vocabularies.target; }

}  // namespace heed::predict
