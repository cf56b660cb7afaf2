#include "heed/task/pair_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/search/batches.h"
#include "heed/task/line_tokens.h"
#include "heed/task/score_examples.h"
#include "heed/task/search_options.h"
#include "heed/task/search_outputs.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

// ---------------------------------------------------------------------------------------------------------- predicting

/// A line to predict.
struct AskedLine {
  std::string_view text;
  std::vector<int32_t> source;  // tokens, at least one
  int64_t number = 0;           // of the line
  Prediction* answer = nullptr;
};

/// Its tokens. What is wrong with the line goes to prediction.error.
std::vector<int32_t> read_line(std::string_view line, const Answering& asked, Prediction& prediction) {
  line = without_end(line);
  prediction.error = text::utf8_complaint(line);
  if (!prediction.error.empty()) return {};
  const text::Tokeniser& source = *asked.vocabularies.source;
  std::vector<int32_t> ids = source.encode(line);
  prediction.source_tokens = spelled(source, ids);
  prediction.unknown = unknown_in(line, ids, source);
  if (const int64_t places = asked.model.max_positions(); std::ssize(ids) > places)
    prediction.error = too_long(std::ssize(ids), places);
  return ids;
}

OutputLimits limits_of(const Answering& asked) {
  OutputLimits limits{.max_positions = asked.model.max_positions(), .longest = asked.longest, .heads = {}};
  if (const model::ParallelGenerator* generator = asked.model.parallel_generator()) {
    limits.heads = generator->alignment_heads();
    limits.parallel = true;
    limits.has_slots = generator->slots() > 0;
    return limits;
  }
  expect(asked.model.generator() != nullptr, "predict: this model cannot generate outputs");
  limits.heads = asked.model.generator()->alignment_heads();
  return limits;
}

void search_lines(std::span<const AskedLine> lines, const Answering& asked, const PredictOptions& wanted,
                  search::Options options) {
  options.alignment |= wanted.copy_unknown;
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0}, numbers;
  for (const AskedLine& line : lines) {
    ids.insert(ids.end(), line.source.begin(), line.source.end());
    offsets.push_back(std::ssize(ids));
    numbers.push_back(line.number);
    line.answer->nbest.clear();
  }
  const search::Sources sources{.ids = ids, .offsets = offsets, .numbers = numbers};
  const model::ParallelGenerator* parallel = asked.model.parallel_generator();
  std::vector<search::Result> found = parallel
                                          ? search::search_all(*parallel, asked.tapes, sources, options)
                                          : search::search_all(*asked.model.generator(), asked.tapes, sources, options);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> source;
    if (wanted.copy_unknown) source = asked.vocabularies.source->cut(lines[i].text);
    for (search::Hypothesis& h : found[i].hypotheses) {
      lines[i].answer->nbest.push_back(output_of(std::move(h), *asked.vocabularies.target, source));
      if (!wanted.alignments) lines[i].answer->nbest.back().alignment.clear();
    }
  }
}

}  // namespace

std::vector<Prediction> predict_targets(const Answering& asked, std::span<const std::string> lines,
                                        const PredictOptions& options) {
  const search::Options how = search_options(options, limits_of(asked));
  std::vector<Prediction> predictions(lines.size());
  std::vector<AskedLine> there;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    std::vector<int32_t> ids = read_line(lines[i], asked, predictions[i]);
    if (ids.empty() || !predictions[i].error.empty()) continue;
    there.push_back(
        {without_end(lines[i]), std::move(ids), options.first_line + static_cast<int64_t>(i), &predictions[i]});
  }
  if (there.empty()) return predictions;
  together_or_each(
      std::span<const AskedLine>(there),
      [&](std::span<const AskedLine> some) { search_lines(some, asked, options, how); },
      [](const AskedLine& line, const std::string& error) { line.answer->error = error; });
  return predictions;
}

// ------------------------------------------------------------------------------------------------------------- scoring

namespace {

/// Fills in the tokens of a pair. Returns why it cannot be scored, or nothing.
std::string pair_complaint(const TextPair& pair, const Answering& asked, std::vector<int32_t>& source,
                           std::vector<int32_t>& target) {
  for (const std::string* side : {&pair.source, &pair.target})
    if (std::string wrong = text::utf8_complaint(*side); !wrong.empty()) return wrong;
  source = asked.vocabularies.source->encode(pair.source);
  target = asked.vocabularies.target->encode(pair.target);
  const int64_t longest = std::max(std::ssize(source), std::ssize(target) + 1);
  if (const int64_t places = asked.model.max_positions(); longest > places) return too_long(longest, places);
  if (const int64_t most = asked.model.max_predictions(); std::ssize(target) + 1 > most)
    return too_long(std::ssize(target) + 1, most);
  return source.empty() ? "the source is empty" : "";
}

}  // namespace

std::vector<PairScore> score_pairs(const Answering& asked, std::span<const TextPair> pairs) {
  std::vector<PairScore> scores(pairs.size());
  data::Examples examples;
  std::vector<PairScore*> of_example;
  for (size_t i = 0; i < pairs.size(); ++i) {
    stop_if_interrupted();
    std::vector<int32_t> source, target;
    scores[i].error = pair_complaint(pairs[i], asked, source, target);
    if (!scores[i].error.empty()) continue;
    examples.source.add(source);
    examples.target.add(target);
    scores[i].tokens = spelled(*asked.vocabularies.target, target);
    scores[i].tokens.push_back(asked.vocabularies.target->token(text::kEnd));
    of_example.push_back(&scores[i]);
  }
  score_examples(asked, examples, of_example);
  return scores;
}

}  // namespace heed::task
