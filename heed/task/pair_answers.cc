#include "heed/task/pair_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/search/source_batch.h"
#include "heed/task/line_tokens.h"
#include "heed/task/score_examples.h"
#include "heed/task/search_lines.h"
#include "heed/task/search_options.h"
#include "heed/task/search_outputs.h"
#include "heed/task/text_teller.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

// ---------------------------------------------------------------------------------------------------------- predicting

/// A line to predict; it has at least one token.
struct AskedLine {
  std::string_view text;
  Prediction* answer = nullptr;
  SearchLine asked = {};
};

/// Its tokens, for each model. What is wrong with the line goes to prediction.error.
std::vector<std::vector<int32_t>> read_line(std::string_view line, const LoadedModel& asked, Prediction& prediction) {
  line = without_end(line);
  prediction.error = text::utf8_complaint(line);
  if (!prediction.error.empty()) return {};
  std::vector<std::vector<int32_t>> sources;
  asked.each_model([&](const LoadedModel& each) {
    sources.push_back(each.vocabularies.source->encode(line));
    const auto count = std::ssize(sources.back());
    if (const int64_t places = each.model.max_positions(); count > places) prediction.error = too_long(count, places);
  });
  const text::Tokeniser& source = *asked.vocabularies.source;
  prediction.source_tokens = spelled(source, sources[0]);
  prediction.unknown = unknown_in(line, sources[0], source);
  return sources;
}

OutputLimits limits_of(const LoadedModel& asked) {
  OutputLimits limits{
      .max_positions = asked.max_positions(), .longest = asked.description.answers.longest, .heads = {}};
  bool parallel = false;
  asked.each_model([&](const LoadedModel& each) { parallel |= each.model.parallel_generator() != nullptr; });
  if (!parallel) {
    limits.heads = alignment_heads(generators_of(asked));
    return limits;
  }
  expect(asked.others.empty(), "ensemble: models that write all positions at once cannot write together with others");
  const model::ParallelGenerator* generator = asked.model.parallel_generator();
  limits.heads = generator->alignment_heads();
  limits.parallel = true;
  limits.has_slots = generator->slots() > 0;
  return limits;
}

/// By a model that writes all positions at once.
std::vector<search::Result> write_lines(const model::ParallelGenerator& generator, const LoadedModel& asked,
                                        std::span<const SearchLine> lines, const search::Options& options) {
  search::SourceBatch sources;
  for (const SearchLine& line : lines) sources.add(line.sources[0], line.number, nullptr);
  return search::search_all(generator, asked.tapes, sources.view(), options);
}

bool any_is_empty(const std::vector<std::vector<int32_t>>& sources) {
  return std::any_of(sources.begin(), sources.end(), [](const auto& source) { return source.empty(); });
}

void answer_lines(std::span<const AskedLine> lines, const LoadedModel& asked, const PredictOptions& wanted,
                  search::Options options) {
  options.alignment |= wanted.copy_unknown;
  options.on_token = text_teller(wanted, *asked.vocabularies.target);
  std::vector<SearchLine> searched;
  for (const AskedLine& line : lines) {
    searched.push_back(line.asked);
    line.answer->nbest.clear();
  }
  const model::ParallelGenerator* parallel = asked.model.parallel_generator();
  std::vector<search::Result> found = parallel ? write_lines(*parallel, asked, searched, options)
                                               : search_lines(generators_of(asked), asked, searched, options);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> source;
    if (wanted.copy_unknown) source = asked.vocabularies.source->cut(lines[i].text);
    for (search::Hypothesis& h : found[i].hypotheses) {
      lines[i].answer->nbest.push_back(
          output_of(std::move(h), *asked.vocabularies.target, lines[i].asked.rules, source));
      if (!wanted.alignments) lines[i].answer->nbest.back().alignment.clear();
    }
  }
}

}  // namespace

std::vector<Prediction> predict_targets(const LoadedModel& asked, std::span<const std::string> lines,
                                        const PredictOptions& options) {
  const search::Options how = search_options(options, limits_of(asked), *asked.vocabularies.target);
  OutputRules rules(options, *asked.vocabularies.target, how.longest, lines.size());
  std::vector<Prediction> predictions(lines.size());
  std::vector<AskedLine> there;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    std::vector<std::vector<int32_t>> sources = read_line(lines[i], asked, predictions[i]);
    if (!predictions[i].error.empty() || any_is_empty(sources)) continue;
    RulesOfLine of_line = rules.of_line(i);
    predictions[i].error = of_line.error;
    if (!of_line.error.empty()) continue;
    there.push_back({without_end(lines[i]),
                     &predictions[i],
                     {std::move(sources), options.first_line + static_cast<int64_t>(i), std::move(of_line)}});
  }
  if (there.empty()) return predictions;
  together_or_each(
      std::span<const AskedLine>(there),
      [&](std::span<const AskedLine> some) { answer_lines(some, asked, options, how); },
      [](const AskedLine& line, const std::string& error) { line.answer->error = error; });
  return predictions;
}

// ------------------------------------------------------------------------------------------------------------- scoring

namespace {

/// Fills in the tokens of a pair, those of the source for each model. Returns why it cannot be scored, or nothing.
std::string pair_complaint(const TextPair& pair, const LoadedModel& asked, std::vector<std::vector<int32_t>>& sources,
                           std::vector<int32_t>& target) {
  for (const std::string* side : {&pair.source, &pair.target})
    if (std::string wrong = text::utf8_complaint(*side); !wrong.empty()) return wrong;
  target = target_tokens(pair, *asked.vocabularies.target);
  std::string wrong;
  asked.each_model([&](const LoadedModel& each) {
    sources.push_back(each.vocabularies.source->encode(pair.source));
    const int64_t longest = std::max(std::ssize(sources.back()), std::ssize(target) + 1);
    if (const int64_t places = each.model.max_positions(); longest > places) wrong = too_long(longest, places);
    if (const int64_t most = each.model.max_predictions(); std::ssize(target) + 1 > most)
      wrong = too_long(std::ssize(target) + 1, most);
  });
  return wrong.empty() && any_is_empty(sources) ? "the source is empty" : wrong;
}

}  // namespace

std::vector<PairScore> score_pairs(const LoadedModel& asked, std::span<const TextPair> pairs) {
  std::vector<PairScore> scores(pairs.size());
  data::Examples examples;
  std::vector<SearchLine> lines;  // of an ensemble
  std::vector<std::vector<int32_t>> targets;
  std::vector<PairScore*> of_example;
  for (size_t i = 0; i < pairs.size(); ++i) {
    stop_if_interrupted();
    std::vector<std::vector<int32_t>> sources;
    std::vector<int32_t> target;
    scores[i].error = pair_complaint(pairs[i], asked, sources, target);
    if (!scores[i].error.empty()) continue;
    add_unknown(pairs[i].source, *asked.vocabularies.source, scores[i].unknown);
    if (pairs[i].target_ids.empty()) add_unknown(pairs[i].target, *asked.vocabularies.target, scores[i].unknown);
    scores[i].tokens = spelled(*asked.vocabularies.target, target);
    scores[i].tokens.push_back(asked.vocabularies.target->token(text::kEnd));
    of_example.push_back(&scores[i]);
    if (asked.others.empty()) {
      examples.source.add(sources[0]);
      examples.target.add(target);
    } else {
      lines.push_back({std::move(sources), static_cast<int64_t>(i)});
      target.push_back(text::kEnd);
      targets.push_back(std::move(target));
    }
  }
  if (asked.others.empty())
    score_examples(asked, examples, of_example);
  else
    score_lines(generators_of(asked), asked, lines, targets, of_example);
  return scores;
}

}  // namespace heed::task
