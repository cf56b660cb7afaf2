#include "heed/task/next_token_answers.h"

#include <algorithm>
#include <utility>

#include "heed/data/text_windows.h"
#include "heed/model/language_model.h"
#include "heed/search/score.h"
#include "heed/task/line_tokens.h"
#include "heed/task/running_text.h"
#include "heed/task/search_lines.h"
#include "heed/task/search_options.h"
#include "heed/task/text_teller.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

/// Of all models, with the same stride.
class TextGenerators {
 public:
  TextGenerators(const LoadedModel& asked, int64_t stride) {
    asked.each_model([&](const LoadedModel& each) {
      const auto* model = dynamic_cast<const model::LanguageModel*>(&each.model);
      expect(model != nullptr, ErrorKind::bug, "next_token: expected a model of running text");
      made_.push_back(model->generator_with(stride));
    });
  }
  Generators all() const {
    Generators pointers;
    for (const model::TextGenerator& each : made_) pointers.push_back(&each);
    return pointers;
  }

 private:
  std::vector<model::TextGenerator> made_;
};

// ---------------------------------------------------------------------------------------------------------- continuing

struct AskedText {
  SearchLine asked;  // its sources: <s> and its tokens, the same for each model
  Prediction* answer = nullptr;

  const std::vector<int32_t>& beginning() const { return asked.sources[0]; }
};

void search_texts(std::span<const AskedText> texts, const LoadedModel& asked, const PredictOptions& wanted,
                  search::Options how) {
  std::vector<SearchLine> searched;
  for (const AskedText& text : texts) {
    searched.push_back(text.asked);
    text.answer->nbest.clear();
  }
  const text::Tokeniser& tokeniser = *asked.vocabularies.target;
  how.on_token = text_teller(wanted, [texts, &tokeniser](int64_t number, std::span<const int32_t> tokens) {
    const auto asked = std::lower_bound(texts.begin(), texts.end(), number,
                                        [](const AskedText& text, int64_t n) { return text.asked.number < n; });
    return continuation(asked->beginning(), tokens, tokeniser);
  });
  const TextGenerators generators(asked, wanted.stride);
  std::vector<search::Result> found = search_lines(generators.all(), asked, searched, how);
  for (size_t i = 0; i < texts.size(); ++i)
    for (search::Hypothesis& h : found[i].hypotheses) {
      Output output{.text = continuation(texts[i].beginning(), h.tokens, tokeniser),
                    .score = h.score,
                    .log_probability = h.log_probability,
                    .finished = h.finished,
                    .tokens = spelled(tokeniser, h.tokens),
                    .ids = h.tokens,
                    .token_log_probabilities = std::move(h.token_log_probabilities)};
      texts[i].asked.rules.tell_missing(h, output);
      texts[i].answer->nbest.push_back(std::move(output));
    }
}

}  // namespace

std::vector<Prediction> continue_texts(const LoadedModel& asked, std::span<const std::string> texts,
                                       const PredictOptions& options) {
  expect(!options.copy_unknown, "copy_unknown is for models that read a source; this one only goes on with a text");
  expect(options.coverage == 0.0, "coverage {} is for models that read a source; this one only goes on with a text",
         options.coverage);
  const bool begins = std::any_of(options.line_rules.begin(), options.line_rules.end(),
                                  [](const LineRules& rules) { return !rules.prefix.empty(); });
  expect(options.prefix.empty() && !begins,
         "prefix is for models that read a source; this one goes on with a text: put it at the end of the line");
  const TextGenerators checked(asked, options.stride);  // refuses a stride that does not fit
  // A window has positions for all of its tokens, so a text may go on for ever.
  search::Options how = search_options(options,
                                       {.max_positions = kLongest,
                                        .longest = asked.description.answers.longest,
                                        .heads = {},
                                        .writes_lines = has_lines(asked.description.answers.documents)},
                                       *asked.vocabularies.target);
  how.alignment = false;
  OutputRules rules(options, *asked.vocabularies.target, how.longest, texts.size());
  std::vector<Prediction> all(texts.size());
  std::vector<AskedText> there;
  for (size_t i = 0; i < texts.size(); ++i) {
    stop_if_interrupted();
    const std::string_view text = without_end(texts[i]);
    all[i].error = text::utf8_complaint(text);
    if (!all[i].error.empty()) continue;
    std::vector<int32_t> ids = beginning_of(text, *asked.vocabularies.source);
    all[i].source_tokens = spelled(*asked.vocabularies.source, std::span(ids).subspan(1));
    all[i].unknown = unknown_in(text, std::span(ids).subspan(1), *asked.vocabularies.source);
    RulesOfLine of_line = rules.of_line(i);
    all[i].error = of_line.error;
    if (!of_line.error.empty()) continue;
    const std::vector<std::vector<int32_t>> of_models(asked.others.size() + 1, ids);
    there.push_back({{of_models, options.first_line + static_cast<int64_t>(i), std::move(of_line)}, &all[i]});
  }
  if (there.empty()) return all;
  together_or_each(
      std::span<const AskedText>(there),
      [&](std::span<const AskedText> some) { search_texts(some, asked, options, how); },
      [](const AskedText& text, const std::string& error) { text.answer->error = error; });
  return all;
}

// ------------------------------------------------------------------------------------------------------------- scoring

namespace {

constexpr int64_t kTogether = 4096;  // tokens of a batch

struct ScoredText {
  std::vector<int32_t> ids;  // <s>, source, target, end
  size_t first = 0;          // of the target
  PairScore* score = nullptr;

  int64_t inputs() const { return std::ssize(ids) - 1; }
  /// `found`: of every token but the first.
  void take(std::span<const float> found) const {
    const auto of_target = found.subspan(first - 1);
    score->token_log_probabilities.assign(of_target.begin(), of_target.end());
    score->log_probability = 0;
    for (const float each : of_target) score->log_probability += each;
  }
};

/// Each text by itself, in the windows of its model.
void score_windows(const LoadedModel& asked, std::span<const ScoredText> texts, Tape& tape) {
  const data::WindowRule rule = model::text_windows(asked.description.model, asked.stride);
  std::vector<data::TextWindow> windows;
  std::vector<size_t> text_of;         // [windows]
  std::vector<int64_t> places;         // [texts]: of the first token of each among those of all
  std::vector<std::vector<float>> of;  // [texts]: found so far
  int64_t place = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const data::TextWindow& window : data::windows_of(texts[i].inputs(), rule)) {
      windows.push_back(window);
      text_of.push_back(i);
    }
    places.push_back(std::exchange(place, place + std::ssize(texts[i].ids)));
    of.emplace_back(static_cast<size_t>(texts[i].inputs()));
    texts[i].score->parts.clear();
  }
  data::Carried carried;
  for (const data::Batch& some : data::batches_of(windows, kTogether)) {
    stop_if_interrupted();
    data::PackedPieces batch;
    batch.carried = &carried;
    for (const int64_t w : some) {
      const size_t i = text_of[static_cast<size_t>(w)];
      data::add_window(batch, texts[i].ids, windows[static_cast<size_t>(w)], places[i]);
    }
    const std::vector<search::Scored> scored = search::score(asked.model, tape, batch, &carried);
    for (size_t n = 0; n < some.size(); ++n) {
      const auto w = static_cast<size_t>(some[n]);
      const data::TextWindow& window = windows[w];
      const auto from = scored[n].token_log_probabilities.begin();
      std::copy(from + (window.first - window.begin), from + (window.end - window.begin),
                of[text_of[w]].begin() + window.first);
      texts[text_of[w]].score->parts.push_back({window.first, window.end});
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) texts[i].take(of[i]);
}

/// By an ensemble.
void score_together(const LoadedModel& asked, std::span<const ScoredText> texts) {
  std::vector<SearchLine> lines;
  std::vector<std::vector<int32_t>> targets;
  std::vector<PairScore*> scores;
  for (const ScoredText& text : texts) {
    const auto middle = text.ids.begin() + static_cast<ptrdiff_t>(text.first);
    lines.push_back({.sources = {asked.others.size() + 1, std::vector<int32_t>(text.ids.begin(), middle)}});
    targets.emplace_back(middle, text.ids.end());
    scores.push_back(text.score);
  }
  const TextGenerators generators(asked, asked.stride);
  score_lines(generators.all(), asked, lines, targets, scores);
}

}  // namespace

std::vector<PairScore> score_texts(const LoadedModel& asked, std::span<const TextPair> pairs) {
  const text::Tokeniser& tokeniser = *asked.vocabularies.target;
  const TextGenerators checked(asked, asked.stride);  // refuses a stride that does not fit
  const bool lines = value_of(kDocuments, asked.description.answers.documents, "data: documents") == Documents::line;
  std::vector<PairScore> scores(pairs.size());
  std::vector<ScoredText> texts;
  for (size_t i = 0; i < pairs.size(); ++i) {
    PairScore& score = scores[i];
    for (const std::string* side : {&pairs[i].source, &pairs[i].target})
      if (score.error.empty()) score.error = text::utf8_complaint(*side);
    if (!score.error.empty()) continue;
    ScoredText text{.ids = beginning_of(without_end(pairs[i].source), tokeniser), .score = &score};
    text.first = text.ids.size();
    if (pairs[i].target_ids.empty()) {
      const std::vector<int32_t> target = beginning_of(pairs[i].target, tokeniser);
      text.ids.insert(text.ids.end(), target.begin() + 1, target.end());
    } else {
      const std::vector<int32_t> target = target_tokens(pairs[i], tokeniser);
      text.ids.insert(text.ids.end(), target.begin(), target.end());
    }
    add_unknown(pairs[i].source, tokeniser, score.unknown);
    if (pairs[i].target_ids.empty()) add_unknown(pairs[i].target, tokeniser, score.unknown);
    text.ids.push_back(lines ? text::kEnd : text::kStart);
    score.tokens = spelled(tokeniser, std::span(text.ids).subspan(text.first));
    texts.push_back(std::move(text));
  }
  if (!asked.others.empty()) {
    score_together(asked, texts);
    return scores;
  }
  search::TapePool::Lease tape(asked.tapes);
  for (size_t begin = 0, end = 0; begin < texts.size(); begin = end) {
    int64_t tokens = 0;
    for (; end < texts.size() && (end == begin || tokens + texts[end].inputs() <= kTogether); ++end)
      tokens += texts[end].inputs();
    together_or_each(
        std::span<const ScoredText>(texts).subspan(begin, end - begin),
        [&](std::span<const ScoredText> some) { score_windows(asked, some, *tape); },
        [](const ScoredText& text, const std::string& error) { text.score->error = error; });
  }
  return scores;
}

TextScore score_text_file(const LoadedModel& asked, const std::filesystem::path& file,
                          const std::function<void(int64_t)>& done) {
  TextEncoder text(*asked.vocabularies.source);
  data::Report report;
  for_each_line(file, value_of(kDocuments, asked.description.answers.documents, "data: documents"), report,
                [&](const TextLine& line) { text.add(line.text, line.begins); });
  TextScore score{.lines = report.kept(), .characters = text.characters(), .unknown = text.unknown()};
  if (report.dropped() > 0) score.warning = report.text();
  const std::shared_ptr<const data::TokenStore> tokens = text.finish();
  expect(tokens->size() > 1, ErrorKind::data, "'{}' has no text", file.string());
  const data::TextWindows windows(tokens, text.characters(),
                                  model::text_windows(asked.description.model, asked.stride));
  search::TapePool::Lease tape(asked.tapes);
  search::each_loss(asked.model, *tape, windows, kTogether, [&](const data::PackedBatch&, const OutputLoss& loss) {
    score.tokens += loss.rows;
    score.correct += loss.correct;
    score.log_probability -= loss.negative_log_likelihood;
    if (done) done(loss.rows);
  });
  return score;
}

}  // namespace heed::task
