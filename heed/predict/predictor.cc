#include "heed/predict/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "heed/search/batches.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/tensor/memory.h"
#include "heed/tensor/tape.h"
#include "heed/text/utf8.h"

namespace heed::predict {

// ------------------------------------------------------------------------------------------------------------- outputs

std::vector<Link> Output::links() const {
  std::vector<Link> links;
  for (size_t t = 0; t < alignment.size(); ++t) {
    const std::vector<float>& row = alignment[t];
    if (row.empty()) continue;
    links.push_back({std::max_element(row.begin(), row.end()) - row.begin(), static_cast<int64_t>(t)});
  }
  return links;
}

std::string pharaoh(const Output& output) {
  std::string text;
  for (const Link& link : output.links())
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

const std::string& Prediction::text() const {
  static const std::string nothing;
  return nbest.empty() ? nothing : nbest.front().text;
}

// ----------------------------------------------------------------------------------------------------------- questions

namespace {

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> spelled(const Tokeniser& tokeniser, std::span<const int32_t> ids) {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) tokens.push_back(tokeniser.token(id));
  return tokens;
}

}  // namespace

/// A line that the model is asked about.
struct Predictor::Asked {
  std::vector<int32_t> source;  // tokens, at least one
  int64_t number = 0;           // of the line
  Prediction* answer = nullptr;
};

Predictor::Predictor(train::TrainedModel trained)
    : trained_(std::move(trained)), tapes_(std::make_unique<search::Tapes>()) {
  // Throws where HEED_ISA names what cannot run: here, and not as what is wrong with every line.
  const Tape tape({.recording = false, .training = false});
}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Predictor load(const std::filesystem::path& folder, std::string_view checkpoint) {
  return Predictor(train::load_model(folder, checkpoint));
}

/// Tokens, or what is wrong with it.
std::vector<int32_t> Predictor::read(std::string_view line, Prediction& prediction) const {
  line = without_end(line);
  prediction.error = utf8_complaint(line);
  if (!prediction.error.empty()) return {};
  std::vector<int32_t> ids = source().encode(line);
  prediction.source_tokens = spelled(source(), ids);
  const int64_t places = train::places(trained_.recipe);
  if (std::ssize(ids) > places)
    prediction.error = fmt::format("{} tokens are too long: the model has places for {}", ids.size(), places);
  return ids;
}

Prediction Predictor::predict(std::string_view line, const Options& options) const {
  const std::string lines[] = {std::string(line)};
  return std::move(predict_all(lines, options).front());
}

std::vector<Prediction> Predictor::predict_all(std::span<const std::string> lines, const Options& options) const {
  const search::Options how = search_options(options, trained_.recipe);
  std::vector<Prediction> predictions(lines.size());
  std::vector<Asked> asked;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    std::vector<int32_t> ids = read(lines[i], predictions[i]);
    if (ids.empty() || !predictions[i].error.empty()) continue;
    asked.push_back({std::move(ids), options.first_line + static_cast<int64_t>(i), &predictions[i]});
  }
  if (asked.empty()) return predictions;
  search(asked, how);
  return predictions;
}

/// Where all of them together fail, each is tried alone: one line that is too much for the memory or gives numbers that
/// are none takes no other with it.
void Predictor::search(std::span<const Asked> asked, const search::Options& options) const {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0}, numbers;
  for (const Asked& a : asked) {
    ids.insert(ids.end(), a.source.begin(), a.source.end());
    offsets.push_back(std::ssize(ids));
    numbers.push_back(a.number);
  }
  std::string error;
  try {
    std::vector<search::Result> found =
        search::search_all(*trained_.model, *tapes_, {.ids = ids, .offsets = offsets, .numbers = numbers}, options);
    for (size_t i = 0; i < asked.size(); ++i)
      for (search::Hypothesis& h : found[i].hypotheses) asked[i].answer->nbest.push_back(output_of(std::move(h)));
    return;
  } catch (const Error& wrong) {
    error = wrong.what();
  } catch (const std::bad_alloc& lack) {
    error = memory_text(lack);
  }
  for (const Asked& a : asked) a.answer->nbest.clear();
  if (asked.size() == 1) {
    asked.front().answer->error = error;
    return;
  }
  for (size_t i = 0; i < asked.size(); ++i) search(asked.subspan(i, 1), options);
}

Output Predictor::output_of(search::Hypothesis&& h) const {
  h.alignment.resize(std::min(h.alignment.size(), h.tokens.size()));  // what the end looked at is nobody's question
  return {.text = target().decode(h.tokens),
          .score = h.score,
          .log_probability = h.log_probability,
          .finished = h.finished,
          .tokens = spelled(target(), h.tokens),
          .token_log_probabilities = std::move(h.token_log_probabilities),
          .alignment = std::move(h.alignment)};
}

}  // namespace heed::predict
