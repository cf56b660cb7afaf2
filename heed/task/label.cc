// A label for a text: reviews, news, mail, intents. Lines of texts, each with a label.
#include <fmt/format.h>

#include "heed/encode/all.h"
#include "heed/encode/choices.h"
#include "heed/model/choices.h"
#include "heed/model/classifier.h"
#include "heed/task/all.h"
#include "heed/task/label_answers.h"
#include "heed/task/label_texts.h"
#include "heed/task/recipe_limits.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

class LabelTask final : public Task {
 public:
  LabelTask() : Task("label", "a label for a text: lines of a text and a label") {}

  void set_defaults(data::Options& d, model::Options&) const override {
    d.train.source_column = d.train.target_column = 0;  // found in the data
    d.source.kind = "unicode_words";
    d.target.kind = "lines";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What is learned: texts with labels, from a file.");
    f.add("data.folder", d.folder, "folder that the names below are relative to; empty: the current folder");
    f.add("data.tsv", d.train.tsv, "file with a text and its label on each line, separated by a tab; plain or gzip");
    f.add("data.text_column", d.train.source_column, "column of the texts; 0: the longest",
          Limit::between(0, kMostColumns));
    f.add("data.label_column", d.train.target_column, "column of the labels; 0: that with the fewest different values",
          Limit::between(0, kMostColumns));
    f.add("data.header", d.train.header, "the first line names the columns, and is left out");
    f.add("data.valid_tsv", d.valid.tsv, "file to validate on, with the same columns");
    f.add("data.held_out", d.held_out, "without one: share of the texts held out for it; 0: a tenth, at most 2000",
          Limit::between(0, 0.5));
    std::vector<std::string> kinds;
    for (const std::string& kind : text::Tokeniser::kinds())
      if (kind != "lines") kinds.push_back(kind);
    f.add("data.source_tokens", d.source.kind, "how the texts are split into tokens", Limit::one_of(kinds));
    f.add("data.source_size", d.source.size, "tokens of the vocabulary at most; 0: no limit, sentencepiece: 8000",
          Limit::between(0, 1e8));
    f.add("data.source_min_count", d.source.min_count, "tokens seen less often than this are unknown",
          Limit::between(1, kMostLines));
    f.add("data.max_source", d.max_source, "a longer text is cut after so many tokens; 0: no limit",
          Limit::between(0, kMostTokens));
  }

  void add_model(Fields& f, model::Options& m) const override {
    std::vector<std::string> encoders;
    for (const encode::EncoderEntry* entry : encode::all_encoders()) encoders.emplace_back(entry->name);
    f.add("model.kind", m.kind, "encoder that reads the tokens, and for hierarchical attention the sentences too",
          Limit::one_of(encoders));
    f.add("model.width", m.width, "width of the embeddings and of the hidden states", Limit::between(1, 65536));
    f.add("model.encoder_layers", m.encoder_layers, "layers of the encoder", Limit::between(1, 1000));
    f.add("model.dropout", m.dropout, "share of the numbers set to 0 while training", Limit::from_to_below(0, 1));
    f.add("model.pool", m.pool,
          "how the states of a text become one vector: attention, as [attention] says, or their mean or maximum",
          Limit::one_of(heed::words_of(model::kPools)));
    f.add("model.penalty", m.penalty, "structured attention: weight of |A A^T - I|^2 in the loss",
          Limit::between(0, 1e6));
    f.add("model.cell", m.cell, "rnn: its recurrent cell", Limit::one_of(heed::words_of(encode::kCells)));
    f.add("model.bidirectional", m.bidirectional, "rnn: it reads both ways");
    f.add("model.hidden", m.hidden, "transformer: width of the feed-forward layers; 0: 4 * width",
          Limit::between(0, 1 << 20));
    f.add("model.activation", m.activation, "transformer: of the feed-forward layers",
          Limit::one_of(heed::words_of(encode::kActivations)));
    f.add("model.norm", m.norm, "transformer: after each sublayer, as in the paper, or before it",
          Limit::one_of(heed::words_of(model::kNorms)));
    f.add("model.positions", m.positions, "transformer: how it knows the order of tokens",
          Limit::one_of(heed::words_of(model::kPositions)));
    f.add("model.max_length", m.max_length, "learned positions: tokens of the longest text",
          Limit::between(1, kMostTokens));
  }

  std::vector<std::string> own_attention_keys() const override { return {"queries"}; }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    if (d.train.tsv.empty()) all.emplace_back("there is no data: data.tsv");
    if (d.train.source_column > 0 && d.train.source_column == d.train.target_column)
      all.push_back(fmt::format("data.text_column and data.label_column are both {}", d.train.source_column));
    if (m.penalty > 0 && m.attention.structure != "structured")
      all.emplace_back("model.penalty is for attention.structure = \"structured\"");
    return all;
  }

  std::vector<std::string> metrics() const override { return {"accuracy", "exact"}; }

  std::unique_ptr<Texts> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<LabelTexts>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    model::Options of_labels = options;
    of_labels.target_vocabulary -= text::kSpecials;
    return std::make_unique<model::Classifier>(parameters, of_labels);
  }
  std::vector<Prediction> predict(const Answering& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return predict_labels(asked, lines, options);
  }
  std::vector<PairScore> score(const Answering& asked, std::span<const TextPair> pairs) const override {
    return score_labels(asked, pairs);
  }
};

}  // namespace

const Task& label_task() {
  static const LabelTask task;
  return task;
}

}  // namespace heed::task
