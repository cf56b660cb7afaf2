#include "heed/task/written_answers.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/data/copied_words.h"
#include "heed/data/examples.h"
#include "heed/model/search/score.h"
#include "heed/task/line_tokens.h"
#include "heed/task/retry_individually.h"
#include "heed/task/text_callback.h"
#include "heed/text/utf8.h"

namespace heed::task {

std::string TargetReader::text_of(const data::Source&, std::span<const int32_t> tokens,
                                  std::span<const std::string> for_unknown, const text::Tokeniser& target) const {
  return target.decode(tokens, for_unknown);
}

namespace {

// ---------------------------------------------------------------------------------------------------------- predicting

/// For each unknown token of the output, the source token with the most attention; empty if that is not known.
std::vector<std::string> copies_for(const search::Hypothesis& h, std::span<const std::string> source) {
  std::vector<std::string> copies;
  for (size_t t = 0; t < h.tokens.size(); ++t) {
    if (h.tokens[t] != text::kUnknown) continue;
    copies.emplace_back();
    if (t >= h.alignment.size() || h.alignment[t].empty()) continue;
    const std::vector<float>& row = h.alignment[t];
    const auto most = static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (most < source.size()) copies.back() = source[most];
  }
  return copies;
}

OutputLimits limits_of(const LoadedModel& asked, const LineSearch& search, const TargetReader& reader) {
  OutputLimits limits{.max_positions = asked.max_positions(),
                      .longest = asked.description.answers.longest,
                      .heads = search.alignment_heads()};
  if (const model::ParallelGenerator* parallel = search.parallel()) {
    limits.parallel = true;
    limits.has_slots = parallel->slots() > 0;
    limits.most_tokens = parallel->slots();
  }
  reader.change(asked, limits);
  return limits;
}

class WrittenAnswers final : public Answerer {
 public:
  WrittenAnswers(const TargetReader& reader, const LoadedModel& asked, const PredictOptions& options, size_t lines)
      : reader_(reader),
        asked_(asked),
        wanted_(options),
        target_(*asked.vocabularies.target),
        search_(reader.search(asked)),
        how_(search_options(options, limits_of(asked, search_, reader), target_)),
        rules_(options, target_, how_.longest, lines) {
    how_.alignment = (options.alignments || options.copy_unknown) && !search_.alignment_heads().empty();
  }

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    return reader_.read(line, model, told);
  }
  RulesOfLine rules_of(size_t line) override { return rules_.of_line(line); }

  void answer(const data::Sources& sources, std::span<const PendingLine> lines) const override {
    for (const PendingLine& line : lines) line.answer->nbest.clear();
    search::Options how = how_;
    std::vector<std::vector<std::string>> copied;  // [lines]
    for (const PendingLine& line : lines) copied.push_back(reader_.copied_words(line.text, asked_));
    how.on_token = text_callback(wanted_, [&](int64_t number, std::span<const int32_t> tokens) {
      const auto line = std::lower_bound(lines.begin(), lines.end(), number,
                                         [](const PendingLine& each, int64_t n) { return each.number < n; });
      return text_of(sources[line->source], tokens, {}, copied[static_cast<size_t>(line - lines.begin())]);
    });
    std::vector<search::Result> found = search_.search(sources, lines, how, reader_.batches(asked_));
    for (size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> words;
      if (wanted_.copy_unknown) words = asked_.vocabularies.source->cut(lines[i].text);
      for (search::Hypothesis& h : found[i].hypotheses)
        lines[i].answer->nbest.push_back(
            output_of(std::move(h), sources[lines[i].source], lines[i].rules, words, copied[i]));
    }
  }

 private:
  /// The reader says what tokens are; of words that only the source has, none does.
  std::string text_of(const data::Source& source, std::span<const int32_t> tokens,
                      std::span<const std::string> for_unknown, std::span<const std::string> copied) const {
    if (copied.empty()) return reader_.text_of(source, tokens, for_unknown, target_);
    return data::decode_copied(target_, tokens, copied, for_unknown);
  }

  /// `words`: of the source, to copy from where the model wrote an unknown one; none: ⁇ stays.
  Output output_of(search::Hypothesis&& h, const data::Source& source, const RulesOfLine& rules,
                   std::span<const std::string> words, std::span<const std::string> copied) const {
    h.alignment.resize(std::min(h.alignment.size(), h.tokens.size()));  // without that of the end token
    Output output{.text = text_of(source, h.tokens, copies_for(h, words), copied),
                  .score = h.score,
                  .log_probability = h.log_probability,
                  .finished = h.finished,
                  .tokens = spelled(target_, h.tokens, copied),
                  .ids = h.tokens,
                  .token_log_probabilities = std::move(h.token_log_probabilities)};
    if (wanted_.alignments) output.alignment = std::move(h.alignment);
    rules.tell_missing(h, output);
    return output;
  }

  const TargetReader& reader_;
  const LoadedModel& asked_;
  const PredictOptions& wanted_;
  const text::Tokeniser& target_;
  LineSearch search_;
  search::Options how_;
  OutputRules rules_;
};

}  // namespace

std::vector<Prediction> write_answers(const TargetReader& reader, const LoadedModel& asked,
                                      std::span<const std::string> lines, const PredictOptions& options) {
  WrittenAnswers task(reader, asked, options, lines.size());
  return answer_lines(asked, lines, options.first_line, task);
}

// ------------------------------------------------------------------------------------------------------------- scoring

namespace {

/// By teacher forcing: all steps at once.
void score_examples(const LoadedModel& asked, const data::Examples& examples, std::span<PairScore* const> scores) {
  search::TapePool::Lease tape(asked.tapes);
  const auto run = [&](std::span<const int64_t> some) {
    stop_if_interrupted();
    std::vector<search::Scored> scored = search::score(asked.model, *tape, examples.pack(some));
    (*tape).reset();  // nothing on it may outlive the batch
    for (size_t i = 0; i < some.size(); ++i) {
      PairScore& score = *scores[static_cast<size_t>(some[i])];
      score.log_probability = scored[i].log_probability;
      score.token_log_probabilities = std::move(scored[i].token_log_probabilities);
    }
  };
  const auto fail = [&](int64_t example, const std::string& error) {
    scores[static_cast<size_t>(example)]->error = error;
  };
  for (const data::Indices& batch : examples.batches({.shuffle = false}, 0))
    retry_individually(std::span<const int64_t>(batch), run, fail);
}

/// Of a target and its end, for each model.
std::string complaint_about_target(int64_t tokens, const LoadedModel& asked) {
  std::string wrong;
  asked.each_model([&](const LoadedModel& each) {
    const int64_t places = std::min(each.model.max_positions(), each.model.max_predictions());
    if (tokens > places) wrong = too_long(tokens, places);
  });
  return wrong;
}

}  // namespace

std::vector<PairScore> score_targets(const TargetReader& reader, const LoadedModel& asked,
                                     std::span<const TextPair> pairs) {
  const text::Tokeniser& vocabulary = *asked.vocabularies.target;
  std::vector<PairScore> scores(pairs.size());
  data::Examples examples(reader.cells(asked), reader.numbers_of_row(asked));
  examples.source = no_sources(asked);
  std::vector<PairScore*> of_example;
  for (size_t i = 0; i < pairs.size(); ++i) {
    stop_if_interrupted();
    PairScore& score = scores[i];
    for (const std::string* side : {&pairs[i].source, &pairs[i].target})
      if (score.error.empty()) score.error = text::utf8_complaint(*side);
    if (!score.error.empty()) continue;
    Prediction told;
    const std::vector<ReadLine> read = read_for_all(reader, without_end(pairs[i].source), asked, &told);
    const std::vector<std::string> copied = reader.copied_words(without_end(pairs[i].source), asked);
    std::vector<int32_t> target = target_tokens(pairs[i], vocabulary, copied);
    score.error = read.back().error;
    if (score.error.empty()) score.error = complaint_about_target(std::ssize(target) + 1, asked);
    if (score.error.empty() && read.back().is_empty) score.error = "the source is empty";
    if (!score.error.empty()) continue;
    score.unknown = std::move(told.unknown);
    if (pairs[i].target_ids.empty() && std::find(target.begin(), target.end(), text::kUnknown) != target.end())
      add_unknown(pairs[i].target, vocabulary, score.unknown);  // what can be copied is no guess
    score.tokens = spelled(vocabulary, target, copied);
    score.tokens.push_back(vocabulary.token(text::kEnd));
    of_example.push_back(&score);
    add_source(examples.source, read);
    examples.target.add(target);
  }
  if (of_example.empty()) return scores;
  if (asked.others.empty()) {
    score_examples(asked, examples, of_example);
    return scores;
  }
  std::vector<std::vector<int32_t>> targets;
  for (int64_t i = 0; i < examples.size(); ++i) {
    const std::span<const int32_t> target = examples.target[i];
    targets.emplace_back(target.begin(), target.end()).push_back(text::kEnd);
  }
  reader.search(asked).score(examples.source, targets, of_example);
  return scores;
}

}  // namespace heed::task
