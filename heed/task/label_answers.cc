#include "heed/task/label_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "heed/data/labelled_texts.h"
#include "heed/model/classifier.h"
#include "heed/search/vocabulary.h"
#include "heed/task/label_texts.h"
#include "heed/task/line_tokens.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

const model::Classifier& classifier_of(const Answering& asked) {
  const auto* classifier = dynamic_cast<const model::Classifier*>(&asked.model);
  expect(classifier != nullptr, ErrorKind::bug, "this model gives no labels");
  return *classifier;
}

/// Where the model looked, in tokens of the whole text.
struct Looked {
  std::vector<std::vector<float>> rows;  // [pooled vectors][tokens]
  std::vector<float> sentences;
};

Looked looked_at(const model::Judged& judged, const data::PackedTexts& batch, int64_t text) {
  Looked looked;
  if (!judged.tokens.data) return looked;
  const auto first = batch.texts[static_cast<size_t>(text)], last = batch.texts[static_cast<size_t>(text) + 1];
  const int64_t begin = batch.sentences[static_cast<size_t>(first)], end = batch.sentences[static_cast<size_t>(last)];
  if (!judged.sentences.data) {
    for (int64_t r = 0; r < judged.tokens.queries; ++r) {
      const float* weights = judged.tokens.at(text, 0, r);
      looked.rows.emplace_back(weights, weights + (end - begin));
    }
    return looked;
  }
  looked.rows.emplace_back();
  for (int64_t s = first; s < last; ++s) {
    const float of_sentence = judged.sentences.at(text, 0, 0)[s - first];
    looked.sentences.push_back(of_sentence);
    const float* weights = judged.tokens.at(s, 0, 0);
    const int64_t length = batch.sentences[static_cast<size_t>(s) + 1] - batch.sentences[static_cast<size_t>(s)];
    for (int64_t i = 0; i < length; ++i) looked.rows[0].push_back(of_sentence * weights[i]);
  }
  return looked;
}

/// Judges the texts in batches of similar length: visit(batch, judged, place in the batch, number of the text), or
/// fail(number of the text, why).
template <class Visit, class Fail>
void judge_texts(const Answering& asked, const data::LabelledTexts& texts, bool weights, const Visit& visit,
                 const Fail& fail) {
  const model::Classifier& classifier = classifier_of(asked);
  search::TapePool::Lease tape(asked.tapes);
  const auto judge = [&](std::span<const int64_t> some) {
    stop_if_interrupted();
    (*tape).reset();
    const std::unique_ptr<data::PackedBatch> packed = texts.pack(some);
    const auto& batch = static_cast<const data::PackedTexts&>(*packed);
    const model::Judged judged = classifier.judge(*tape, batch, weights);
    for (size_t i = 0; i < some.size(); ++i) visit(batch, judged, static_cast<int64_t>(i), some[i]);
  };
  for (const data::Batch& batch : texts.batches({.shuffle = false}, 0))
    together_or_each(std::span<const int64_t>(batch), judge, fail);
}

/// Of a text that has more tokens than the model has positions for.
std::string complaint(const CutText& cut, int64_t places) {
  for (const int32_t length : cut.lengths)
    if (length > places) return too_long(length, places);
  return "";
}

}  // namespace

std::vector<Prediction> predict_labels(const Answering& asked, std::span<const std::string> lines,
                                       const PredictOptions& options) {
  expect(!options.sample && options.beam <= 1, "beam and sample are for models that write; this one gives a label");
  const bool by_sentence = classifier_of(asked).reads_sentences();
  const text::Tokeniser &source = *asked.vocabularies.source, &target = *asked.vocabularies.target;
  std::vector<Prediction> all(lines.size());
  data::LabelledTexts texts;
  std::vector<Prediction*> answers;  // of the texts
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = without_end(lines[i]);
    all[i].error = text::utf8_complaint(line);
    if (!all[i].error.empty()) continue;
    const CutText cut = cut_text(line, source, by_sentence, asked.max_source);
    all[i].error = complaint(cut, asked.model.max_positions());
    all[i].source_tokens = spelled(source, cut.tokens);
    size_t begin = 0;
    for (size_t s = 0; s < cut.sentences.size(); ++s) {
      const std::span<const int32_t> ids = std::span(cut.tokens).subspan(begin, static_cast<size_t>(cut.lengths[s]));
      for (std::string& word : unknown_in(cut.sentences[s], ids, source))
        if (std::find(all[i].unknown.begin(), all[i].unknown.end(), word) == all[i].unknown.end())
          all[i].unknown.push_back(std::move(word));
      begin += ids.size();
    }
    if (by_sentence) all[i].sentence_tokens.assign(cut.lengths.begin(), cut.lengths.end());
    if (!all[i].error.empty() || cut.tokens.empty()) continue;
    texts.add(cut.tokens, cut.lengths, 0, static_cast<int64_t>(i) + 1);
    answers.push_back(&all[i]);
  }
  search::BestTokens best;  // of all texts of a batch
  judge_texts(
      asked, texts, options.alignments,
      [&](const data::PackedTexts& batch, const model::Judged& judged, int64_t place, int64_t text) {
        if (place == 0) search::best_tokens(judged.logits, options.nbest, best);
        const Looked looked = looked_at(judged, batch, place);
        Prediction& answer = *answers[static_cast<size_t>(text)];
        answer.nbest.clear();  // of a batch that failed in the middle
        for (int64_t k = 0; k < best.k; ++k) {
          const int32_t at = best.token[static_cast<size_t>(place * best.k + k)];
          const double log_p = judged.logits.row(place)[at] - best.log_sum[static_cast<size_t>(place)];
          const std::string label = target.token(at + text::kSpecials);
          answer.nbest.push_back({.text = label,
                                  .score = log_p,
                                  .log_probability = log_p,
                                  .finished = true,
                                  .tokens = {label},
                                  .token_log_probabilities = {static_cast<float>(log_p)},
                                  .alignment = looked.rows,
                                  .sentence_weights = looked.sentences});
        }
      },
      [&](int64_t text, const std::string& error) { answers[static_cast<size_t>(text)]->error = error; });
  return all;
}

std::vector<PairScore> score_labels(const Answering& asked, std::span<const TextPair> pairs) {
  std::vector<std::string> lines;
  for (const TextPair& pair : pairs) lines.push_back(pair.source);
  const std::vector<Prediction> said =
      predict_labels(asked, lines, {.nbest = asked.vocabularies.target->size(), .alignments = false});
  std::vector<PairScore> scores(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    PairScore& score = scores[i];
    score.error = said[i].error;
    if (!score.error.empty()) continue;
    if (score.error = text::utf8_complaint(pairs[i].target); !score.error.empty()) continue;
    const std::string_view label = text::without_blanks_around(pairs[i].target);
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
