#include "heed/task/classification/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/model/search/best_tokens.h"
#include "heed/task/answer.h"
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/labelled_texts.h"
#include "heed/task/classification/texts.h"
#include "heed/task/decoding_option.h"
#include "heed/task/line_tokens.h"
#include "heed/task/own_model.h"
#include "heed/tensor/op/label_loss.h"
#include "heed/text/label_set.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

/// Where the model looked, in tokens of the whole text.
struct TokenWeights {
  std::vector<std::vector<float>> rows;  // [pooled vectors][tokens]
  std::vector<float> sentences;
};

TokenWeights looked_at(const Judged& judged, const data::Sources& texts, int64_t text) {
  TokenWeights looked;
  if (!judged.tokens.data) return looked;
  const data::Source source = texts[text];
  if (!judged.sentences.data) {
    // Of two texts, a row for each token of the second, of the first head.
    const int64_t rows = source.second.empty() ? judged.tokens.queries : std::ssize(source.second);
    for (int64_t r = 0; r < rows; ++r) {
      const float* weights = judged.tokens.at(text, 0, r);
      looked.rows.emplace_back(weights, weights + source.tokens.size());
    }
    return looked;
  }
  looked.rows.emplace_back();
  int64_t s = texts.sentences.offsets()[static_cast<size_t>(text)];  // among those of the batch
  for (const int32_t length : source.sentences) {
    const float of_sentence = judged.sentences.at(text, 0, 0)[looked.sentences.size()];
    looked.sentences.push_back(of_sentence);
    const float* weights = judged.tokens.at(s++, 0, 0);
    for (int32_t i = 0; i < length; ++i) looked.rows[0].push_back(of_sentence * weights[i]);
  }
  return looked;
}

Output label_output(const std::string& label, double log_p) {
  return {.text = label,
          .score = log_p,
          .log_probability = log_p,
          .finished = true,
          .tokens = {label},
          .token_log_probabilities = {static_cast<float>(log_p)}};
}

/// The likeliest labels of a text that has one, the best first.
std::vector<Output> best_labels(Tensor logits, int64_t text, const text::Tokeniser& labels,
                                const search::BestTokens& best) {
  std::vector<Output> all;
  for (int64_t k = 0; k < best.k; ++k) {
    const int32_t at = best.token[static_cast<size_t>(text * best.k + k)];
    all.push_back(label_output(labels.token(at + text::kSpecials),
                               logits.row(text)[at] - best.log_sum[static_cast<size_t>(text)]));
  }
  return all;
}

struct SetOptions {
  int64_t nbest;
  std::string_view between;
};

/// Of a text that may have several: those above one half as a set, with the probability of exactly this set; then, up
/// to `nbest` outputs in all, single labels with their own probabilities, the likeliest first.
std::vector<Output> set_and_labels(Tensor logits, int64_t text, const text::Tokeniser& labels, const SetOptions& o) {
  const float* row = logits.row(text);
  std::vector<int32_t> order(static_cast<size_t>(logits.cols()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
  Output set{.finished = true};
  std::vector<Output> singles;
  for (const int32_t at : order) {
    expect(std::isfinite(row[at]), "the model gives {} for a label", row[at]);
    Output single = label_output(labels.token(at + text::kSpecials), log_sigmoid(row[at]));
    set.log_probability += row[at] > 0 ? single.log_probability : log_sigmoid(-row[at]);
    if (row[at] > 0) {
      set.tokens.push_back(single.text);
      set.token_log_probabilities.push_back(static_cast<float>(single.log_probability));
    }
    if (std::ssize(singles) + 1 < o.nbest) singles.push_back(std::move(single));
  }
  set.score = set.log_probability;
  std::vector<std::string_view> chosen(set.tokens.begin(), set.tokens.end());
  std::sort(chosen.begin(), chosen.end());  // as text::labels_of() orders them
  set.text = text::joined_labels(chosen, o.between);
  std::vector<Output> all = {std::move(set)};
  for (Output& single : singles) all.push_back(std::move(single));
  return all;
}

/// log p of exactly these labels, from outputs that hold all labels after the first; NaN if one does not exist.
double log_probability_of_set(const std::vector<Output>& outputs, const std::vector<std::string_view>& labels) {
  double sum = 0;
  size_t found = 0;
  for (size_t i = 1; i < outputs.size(); ++i) {
    const bool is = std::binary_search(labels.begin(), labels.end(), std::string_view(outputs[i].text));
    found += is ? 1 : 0;
    const double log_p = outputs[i].log_probability;
    sum += is ? log_p : log_of_rest(log_p);
  }
  return found == labels.size() ? sum : std::numeric_limits<double>::quiet_NaN();
}

/// Of a text that has more tokens than the model has positions for.
std::string complaint(const CutText& cut, int64_t places) {
  if (std::ssize(cut.second) > places) return too_long(std::ssize(cut.second), places);
  for (const int32_t length : cut.lengths)
    if (length > places) return too_long(length, places);
  return "";
}

class LabelAnswers final : public Answerer {
 public:
  LabelAnswers(const LoadedModel& asked, const PredictOptions& options)
      : asked_(asked),
        wanted_(options),
        classifier_(own_model<Classifier>(asked.model)),
        reading_({.by_sentence = classifier_.reads_sentences(),
                  .two_texts = classifier_.reads_two_texts(),
                  .most_tokens = asked.description.answers.max_source,
                  .framed = asked.description.model.framed}) {}

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    const text::Tokeniser& words = *model.vocabularies.source;
    CutText cut = cut_text(line, words, reading_);
    ReadLine read{.is_empty = cut.is_empty(reading_), .error = cut.error};
    if (read.error.empty()) read.error = complaint(cut, model.model.max_positions());
    if (told) tell(cut, words, *told);
    read.tokens = std::move(cut.tokens);
    read.sentences = std::move(cut.lengths);
    read.second = std::move(cut.second);
    return read;
  }

  void answer(const data::Sources& sources, std::span<const PendingLine> lines) const override {
    LabelledTexts texts(several());
    for (const PendingLine& line : lines) texts.add({.source = sources[line.source]});
    search::TapePool::Lease tape(asked_.tapes);
    for (const data::Indices& some : texts.batches({.shuffle = false}, 0)) {
      stop_if_interrupted();
      (*tape).reset();
      const data::Sources batch = texts.pack(some).sources;
      const Judged judged = classifier_.judge(*tape, batch, wanted_.alignments);
      search::BestTokens best;  // of all texts of a batch
      if (!several()) search::best_tokens(judged.logits, wanted_.nbest, best);
      for (size_t i = 0; i < some.size(); ++i) {
        const auto place = static_cast<int64_t>(i);
        const text::Tokeniser& labels = *asked_.vocabularies.target;
        std::vector<Output>& nbest = lines[static_cast<size_t>(some[i])].answer->nbest;
        nbest = several() ? set_and_labels(judged.logits, place, labels,
                                           {wanted_.nbest, asked_.description.answers.label_separator})
                          : best_labels(judged.logits, place, labels, best);
        const TokenWeights looked = looked_at(judged, batch, place);
        for (Output& output : nbest) {
          output.alignment = looked.rows;
          output.sentence_weights = looked.sentences;
        }
      }
    }
  }

 private:
  bool several() const { return !asked_.description.answers.label_separator.empty(); }

  void tell(const CutText& cut, const text::Tokeniser& words, Prediction& told) const {
    told.source_tokens = spelled(words, cut.tokens);
    told.second_tokens = spelled(words, cut.second);
    if (reading_.by_sentence) told.sentence_tokens.assign(cut.lengths.begin(), cut.lengths.end());
    const auto add_unknown = [&](std::string_view text, std::span<const int32_t> ids) {
      for (std::string& word : unknown_in(text, ids, words))
        if (std::find(told.unknown.begin(), told.unknown.end(), word) == told.unknown.end())
          told.unknown.push_back(std::move(word));
    };
    size_t begin = 0;
    for (size_t s = 0; s < cut.sentences.size(); ++s) {
      const auto length = static_cast<size_t>(cut.lengths[s]);
      const size_t end = reading_.framed ? 1 : 0;  // <s>, and </s>
      add_unknown(cut.sentences[s], std::span<const int32_t>(cut.tokens).subspan(begin + end, length - 2 * end));
      begin += length;
    }
    add_unknown(cut.second_text, cut.second);
  }

  const LoadedModel& asked_;
  const PredictOptions& wanted_;
  const Classifier& classifier_;
  Reading reading_;
};

}  // namespace

std::vector<Prediction> predict_labels(const LoadedModel& asked, std::span<const std::string> lines,
                                       const PredictOptions& options) {
  check_values(options);
  check_readers(options, kLabels);
  LabelAnswers task(asked, options);
  return answer_lines(asked, lines, options.first_line, task);
}

std::vector<PairScore> score_labels(const LoadedModel& asked, std::span<const TextPair> pairs) {
  std::vector<std::string> lines;
  for (const TextPair& pair : pairs) lines.push_back(pair.source);
  const std::vector<Prediction> said =
      predict_labels(asked, lines, {.nbest = asked.vocabularies.target->size() + 1, .alignments = false});
  std::vector<PairScore> scores(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    PairScore& score = scores[i];
    score.error = said[i].error;
    score.unknown = said[i].unknown;
    if (!score.error.empty()) continue;
    if (score.error = text::utf8_complaint(pairs[i].target); !score.error.empty()) continue;
    const std::string_view label = text::without_blanks_around(pairs[i].target);
    if (!asked.description.answers.label_separator.empty() && !said[i].nbest.empty()) {
      const std::vector<std::string_view> labels = text::labels_of(label, asked.description.answers.label_separator);
      score.log_probability = log_probability_of_set(said[i].nbest, labels);
      score.tokens.assign(labels.begin(), labels.end());
      if (std::isnan(score.log_probability)) score.error = fmt::format("the model has no label '{}'", label);
      score.token_log_probabilities = {static_cast<float>(score.log_probability)};
      continue;
    }
    const auto found = std::find_if(said[i].nbest.begin(), said[i].nbest.end(),
                                    [&](const Output& output) { return output.text == label; });
    if (said[i].nbest.empty() || found == said[i].nbest.end()) {
      score.error = said[i].nbest.empty() ? "the text is empty" : fmt::format("the model has no label '{}'", label);
      continue;
    }
    score.log_probability = found->log_probability;
    score.tokens = found->tokens;
    score.token_log_probabilities = found->token_log_probabilities;
  }
  return scores;
}

}  // namespace heed::task
