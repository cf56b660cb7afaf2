#include "heed/task/masked_language_model/answers.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/data/batches.h"
#include "heed/model/search/best_tokens.h"
#include "heed/model/search/score.h"
#include "heed/task/answer.h"
#include "heed/task/decoding_option.h"
#include "heed/task/line_tokens.h"
#include "heed/task/masked_language_model/masked_model.h"
#include "heed/task/masked_language_model/masked_texts.h"
#include "heed/task/own_model.h"
#include "heed/task/retry_individually.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

constexpr int64_t kMaskedTogether = 4096;  // tokens of a batch
constexpr size_t kAskedTogether = 512;     // logits of all of them are there at once

// ------------------------------------------------------------------------------------------------------- filling in

/// The line with blanks where something is missing, so that nobody takes the sign for a word.
std::string without_gaps(std::string_view line) {
  std::string rest;
  for (size_t at; (at = line.find(text::Tokeniser::kGapSign)) != std::string_view::npos;) {
    rest.append(line.substr(0, at)).append(" ");
    line.remove_prefix(at + text::Tokeniser::kGapSign.size());
  }
  return rest.append(line);
}

class FillingIn final : public Answerer {
 public:
  FillingIn(const LoadedModel& asked, const PredictOptions& options)
      : asked_(asked), nbest_(options.nbest), model_(own_model<MaskedModel>(asked.model)) {}

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    const text::Tokeniser& tokeniser = *model.vocabularies.source;
    ReadLine read{.tokens = tokeniser.encode_with_gaps(line, embed::kBlank)};
    if (model.description.model.framed) read.tokens = framed(std::move(read.tokens));
    read.is_empty = read.tokens.empty();
    const auto length = std::ssize(read.tokens);
    if (length > model.model.max_positions()) read.error = too_long(length, model.model.max_positions());
    if (!told) return read;
    for (const int32_t id : read.tokens)
      told->source_tokens.push_back(id == embed::kBlank ? std::string(text::Tokeniser::kGapSign) : tokeniser.token(id));
    add_unknown(without_gaps(line), tokeniser, told->unknown);
    return read;
  }

  void answer(const data::Sources& sources, std::span<const PendingLine> lines) const override {
    data::Lengths lengths;
    for (const PendingLine& line : lines) lengths.source.push_back(sources.tokens.length(line.source));
    lengths.target = lengths.source;
    search::TapePool::Lease tape(asked_.tapes);
    for (const data::Indices& some :
         data::make_batches(lengths, {.max_tokens = kMaskedTogether, .shuffle = false}, 0)) {
      stop_if_interrupted();
      data::Sequences texts;
      std::vector<const PendingLine*> of;
      for (const int64_t i : some) {
        of.push_back(&lines[static_cast<size_t>(i)]);
        texts.add(sources.tokens[of.back()->source]);
      }
      (*tape).reset();
      answer_together(*tape, texts, of);
    }
  }

 private:
  void answer_together(Tape& tape, const data::Sequences& texts, std::span<const PendingLine* const> lines) const {
    std::vector<MaskedModel::Asked> gaps;
    for (int64_t b = 0; b < texts.size(); ++b)
      for (int64_t i = 0; i < texts.length(b); ++i)
        if (texts[b][static_cast<size_t>(i)] == embed::kBlank) gaps.push_back({b, i});
    const text::Tokeniser& tokeniser = *asked_.vocabularies.source;
    search::BestTokens best;
    // Also without a gap: whoever watches the attention wants to see it.
    const Tensor logits = model_.logits(tape, texts, gaps);
    const std::vector<int32_t> never = tokeniser.never_written();
    const int64_t allowed = tokeniser.size() - std::ssize(never);
    expect(allowed > 0, "the vocabulary has no token to fill in");
    best_tokens(logits, std::min(nbest_, allowed), best, never);
    for (size_t first = 0, b = 0; b < lines.size(); ++b) {
      size_t end = first;
      while (end < gaps.size() && gaps[end].text == static_cast<int64_t>(b)) ++end;
      Prediction& answer = *lines[b]->answer;
      for (size_t g = first; g < end; ++g) answer.filled.push_back(gaps[g].place);
      for (int64_t k = 0; k < (first == end ? 1 : best.k); ++k) {
        Output output{.finished = true};
        for (size_t g = first; g < end; ++g) {
          const int32_t id = best.token[g * static_cast<size_t>(best.k) + static_cast<size_t>(k)];
          const double log_p = logits.row(static_cast<int64_t>(g))[id] - best.log_sum[g];
          output.ids.push_back(id);
          output.log_probability += log_p;
          output.token_log_probabilities.push_back(static_cast<float>(log_p));
        }
        output.score = output.log_probability;
        output.tokens = spelled(tokeniser, output.ids);
        output.text = tokeniser.fill_gaps(lines[b]->text, output.ids);
        answer.nbest.push_back(std::move(output));
      }
      first = end;
    }
  }

  const LoadedModel& asked_;
  int64_t nbest_;
  const MaskedModel& model_;
};

}  // namespace

std::vector<Prediction> fill_in(const LoadedModel& asked, std::span<const std::string> lines,
                                const PredictOptions& options) {
  check_values(options);
  check_readers(options, kFilling);
  FillingIn task(asked, options);
  return answer_lines(asked, lines, options.first_line, task);
}

// ---------------------------------------------------------------------------------------------------------- scoring

namespace {

struct MaskedText {
  std::vector<int32_t> ids;  // of the source and the target
  size_t first = 0;          // of the target
  PairScore* score = nullptr;
};

/// A token of a text, and the part of the text that it is judged in: texts are not longer than in training.
struct Question {
  const MaskedText* text = nullptr;
  size_t begin = 0, end = 0, place = 0;
};

std::vector<Question> questions_about(const MaskedText& text, int64_t longest) {
  std::vector<Question> all;
  const auto length = std::ssize(text.ids), parts = (length + longest - 1) / longest;
  for (int64_t p = 0; p < parts; ++p) {
    const auto begin = static_cast<size_t>(p * length / parts), end = static_cast<size_t>((p + 1) * length / parts);
    for (size_t i = std::max(begin, text.first); i < end; ++i) all.push_back({&text, begin, end, i});
  }
  return all;
}

/// One text, a batch of copies after the other, each of which lacks another token.
void score_text(const LoadedModel& asked, const MaskedText& text, Tape& tape) {
  const bool ends = asked.description.model.framed;
  const int64_t longest = std::min(asked.description.model.context, asked.model.max_positions()) - (ends ? 2 : 0);
  std::vector<float>& found = text.score->token_log_probabilities;
  found.clear();
  const std::vector<Question> questions = questions_about(text, longest);
  for (size_t next = 0; next < questions.size();) {
    stop_if_interrupted();
    data::Batch batch;
    const size_t first = next;
    for (; next < questions.size() && next - first < kAskedTogether; ++next) {
      const Question& q = questions[next];
      const auto part = std::span(text.ids).subspan(q.begin, q.end - q.begin);
      if (next > first && std::ssize(batch.sources.tokens.values()) + std::ssize(part) > kMaskedTogether) break;
      std::vector<int32_t> without(part.begin(), part.end());
      without[q.place - q.begin] = embed::kBlank;
      if (ends) without = framed(std::move(without));
      batch.sources.add(without);
      batch.targets.places.push_back(static_cast<int32_t>(q.place - q.begin) + (ends ? 1 : 0));
      batch.targets.out.push_back(text.ids[q.place]);
      batch.targets.offsets.push_back(std::ssize(batch.targets.out));
    }
    for (const search::Scored& each : search::score(asked.model, tape, batch))
      found.push_back(each.token_log_probabilities.front());
  }
  text.score->log_probability = 0;
  for (const float each : found) text.score->log_probability += each;
}

}  // namespace

std::vector<PairScore> score_masked(const LoadedModel& asked, std::span<const TextPair> pairs) {
  const text::Tokeniser& tokeniser = *asked.vocabularies.source;
  std::vector<PairScore> scores(pairs.size());
  std::vector<MaskedText> texts;
  for (size_t i = 0; i < pairs.size(); ++i) {
    PairScore& score = scores[i];
    for (const std::string* side : {&pairs[i].source, &pairs[i].target})
      if (score.error.empty()) score.error = text::utf8_complaint(*side);
    if (!score.error.empty()) continue;
    MaskedText text{.ids = tokeniser.encode(without_end(pairs[i].source)), .score = &score};
    text.first = text.ids.size();
    const std::vector<int32_t> target = target_tokens(pairs[i], tokeniser);
    if (target.empty()) {
      score.error = "the text is empty";
      continue;
    }
    text.ids.insert(text.ids.end(), target.begin(), target.end());
    add_unknown(pairs[i].source, tokeniser, score.unknown);
    if (pairs[i].target_ids.empty()) add_unknown(pairs[i].target, tokeniser, score.unknown);
    score.tokens = spelled(tokeniser, target);
    texts.push_back(std::move(text));
  }
  search::TapePool::Lease tape(asked.tapes);
  for (size_t i = 0; i < texts.size(); ++i)
    retry_individually(
        std::span<const MaskedText>(texts).subspan(i, 1),
        [&](std::span<const MaskedText> one) { score_text(asked, one.front(), *tape); },
        [](const MaskedText& text, const std::string& error) { text.score->error = error; });
  return scores;
}

TextScore score_masked_file(const LoadedModel& asked, const std::filesystem::path& file,
                            const std::function<void(int64_t)>& done) {
  TextEncoder text(*asked.vocabularies.source);
  data::Report report;
  for_each_line(file, value_of(kDocuments, asked.description.answers.documents, "data: documents"), report,
                [&](const TextLine& line) { text.add(line.text, line.begins); });
  TextScore score{.lines = report.kept(), .unknown = text.unknown()};
  if (report.dropped() > 0) score.warning = report.text();
  const MaskedTexts texts(text.finish(),
                          {.length = std::min(asked.description.model.context, asked.model.max_positions()),
                           .vocabulary = asked.vocabularies.source->size(),
                           .changes = false,
                           .framed = asked.description.model.framed});
  expect(texts.size() > 0, ErrorKind::data, "'{}' has no text", file.string());
  search::TapePool::Lease tape(asked.tapes);
  search::each_loss(asked.model, *tape, texts, kMaskedTogether, [&](const data::Batch&, const OutputLoss& loss) {
    score.tokens += loss.rows;
    score.correct += loss.correct;
    score.log_probability -= loss.negative_log_likelihood;
    if (done) done(loss.rows);
  });
  return score;
}

}  // namespace heed::task
