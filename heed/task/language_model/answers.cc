#include "heed/task/language_model/answers.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/model/search/score.h"
#include "heed/task/language_model/language_model.h"
#include "heed/task/language_model/running_text.h"
#include "heed/task/language_model/text_windows.h"
#include "heed/task/line_tokens.h"
#include "heed/task/own_model.h"
#include "heed/task/retry_individually.h"
#include "heed/task/written_answers.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

/// Of all models, with the same stride.
class TextGenerators {
 public:
  TextGenerators(const LoadedModel& asked, int64_t stride) {
    asked.each_model(
        [&](const LoadedModel& each) { made_.push_back(own_model<LanguageModel>(each.model).generator_with(stride)); });
  }
  Generators all() const {
    Generators pointers;
    for (const TextGenerator& each : made_) pointers.push_back(&each);
    return pointers;
  }

 private:
  std::vector<TextGenerator> made_;
};

// ---------------------------------------------------------------------------------------------------------- continuing

/// A source is <s> and the tokens of the beginning.
class BeginningReader final : public TargetReader {
 public:
  /// Throws if a stride does not fit.
  BeginningReader(const LoadedModel& asked, int64_t stride) : generators_(asked, stride) {}

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    const text::Tokeniser& tokeniser = *model.vocabularies.source;
    ReadLine read{.tokens = beginning_of(line, tokeniser)};
    if (told) {
      const auto words = std::span<const int32_t>(read.tokens).subspan(1);
      told->source_tokens = spelled(tokeniser, words);
      told->unknown = unknown_in(line, words, tokeniser);
    }
    return read;
  }
  LineSearch search(const LoadedModel& asked) const override { return {asked, generators_.all()}; }
  void change(const LoadedModel& asked, OutputLimits& limits) const override {
    limits.max_positions = kLongest;  // a window has positions for all of its tokens, so a text may go on for ever
    limits.writes_lines = has_lines(asked.description.answers.documents);
  }
  std::string text_of(const data::Source& source, std::span<const int32_t> tokens, std::span<const std::string>,
                      const text::Tokeniser& target) const override {
    return continuation(source.tokens, tokens, target);
  }

 private:
  TextGenerators generators_;
};

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
  return write_answers(BeginningReader(asked, options.stride), asked, texts, options);
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
  const WindowRule rule = text_windows(asked.description.model, asked.stride);
  std::vector<TextWindow> windows;
  std::vector<size_t> text_of;         // [windows]
  std::vector<int64_t> places;         // [texts]: of the first token of each among those of all
  std::vector<std::vector<float>> of;  // [texts]: found so far
  int64_t place = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const TextWindow& window : windows_of(texts[i].inputs(), rule)) {
      windows.push_back(window);
      text_of.push_back(i);
    }
    places.push_back(std::exchange(place, place + std::ssize(texts[i].ids)));
    of.emplace_back(static_cast<size_t>(texts[i].inputs()));
    texts[i].score->parts.clear();
  }
  data::RecurrentCarry carried;
  for (const data::Indices& some : batches_of(windows, kTogether)) {
    stop_if_interrupted();
    data::Batch batch;
    batch.carried = &carried;
    for (const int64_t w : some) {
      const size_t i = text_of[static_cast<size_t>(w)];
      add_window(batch, texts[i].ids, windows[static_cast<size_t>(w)], places[i]);
    }
    const std::vector<search::Scored> scored = search::score(asked.model, tape, batch, &carried);
    for (size_t n = 0; n < some.size(); ++n) {
      const auto w = static_cast<size_t>(some[n]);
      const TextWindow& window = windows[w];
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
  data::Sources sources;
  std::vector<std::vector<int32_t>> targets;
  std::vector<PairScore*> scores;
  for (const ScoredText& text : texts) {
    sources.add(std::span(text.ids).first(text.first));
    targets.emplace_back(text.ids.begin() + static_cast<ptrdiff_t>(text.first), text.ids.end());
    scores.push_back(text.score);
  }
  sources.others.assign(asked.others.size(), data::Sources(sources));  // all models have the same vocabulary
  const TextGenerators generators(asked, asked.stride);
  LineSearch(asked, generators.all()).score(sources, targets, scores);
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
    retry_individually(
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
  const std::shared_ptr<const TokenStore> tokens = text.finish();
  expect(tokens->size() > 1, ErrorKind::data, "'{}' has no text", file.string());
  const TextWindows windows(tokens, text.characters(), text_windows(asked.description.model, asked.stride));
  search::TapePool::Lease tape(asked.tapes);
  search::each_loss(asked.model, *tape, windows, kTogether, [&](const data::Batch&, const OutputLoss& loss) {
    score.tokens += loss.rows;
    score.correct += loss.correct;
    score.log_probability -= loss.negative_log_likelihood;
    if (done) done(loss.rows);
  });
  return score;
}

}  // namespace heed::task
