// A label for a text: reviews, news, mail, intents. Lines of texts, each with a label.
#include <fmt/format.h>

#include <utility>

#include "heed/model/choices.h"
#include "heed/model/encode/all.h"
#include "heed/task/all.h"
#include "heed/task/classification/answers.h"
#include "heed/task/classification/class_weights.h"
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/keys.h"
#include "heed/task/classification/relation/all.h"
#include "heed/task/classification/texts.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

class LabelTask final : public Task {
 public:
  LabelTask() : Task("classification", "label", "a label for a text: lines of a text and a label") {}

  const char* example_word() const override { return "text"; }
  const char* prediction_word() const override { return "text"; }
  AnswerKind answers() const override { return AnswerKind::label; }

  const char* learns() const override { return "labels"; }
  std::string recognises(const std::filesystem::path& file) const override { return looks_like_labels(file); }
  std::vector<std::string> settings_of(const std::filesystem::path& file) const override {
    const LabelColumns columns = columns_of_two_texts(file);
    if (columns.second == 0) return {};
    return {fmt::format("data.text_column={}", columns.text), fmt::format("data.second_text_column={}", columns.second),
            fmt::format("data.label_column={}", columns.label)};
  }

  void set_defaults(data::Options& d, model::Options&) const override {
    d.train.source_column = d.train.target_column = 0;  // found in the data
    d.source.kind = "unicode_words";
    d.target.kind = "lines";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What is learned: texts with labels, from a file.");
    add_folder_keys(f, d);
    f.add("data.tsv", d.train.tsv, "file with a text and its label on each line, separated by a tab; plain or gzip");
    f.add("data.text_column", d.train.source_column, "column of the texts; 0: the longest",
          Limit::between(0, kMostColumns));
    f.add("data.label_column", d.train.target_column, "column of the labels; 0: that with the fewest different values",
          Limit::between(0, kMostColumns));
    f.add("data.second_text_column", d.train.second_column,
          "column of a second text that is judged together with the first; 0: there is none",
          Limit::between(0, kMostColumns));
    f.add("data.label_separator", d.label_separator,
          "what separates the labels of a text that may have several, such as \",\"; empty: each text has one label");
    f.former_key("data.labels_between", "data.label_separator");
    f.add("data.class_weights", d.class_weights,
          "weights of the labels in the loss: none, balanced (rare ones count more), or LABEL=WEIGHT,LABEL=WEIGHT");
    add_header_key(f, d);
    f.add("data.valid_tsv", d.valid.tsv, "file to validate on, with the same columns");
    add_held_out_key(f, d);
    add_tokeniser_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    f.add("data.vectors", d.vectors, "file of word vectors to start from, as word2vec and GloVe write them (text)");
    f.add("data.vectors_fixed", d.vectors_fixed,
          "the vectors stay as they are, also those of words that the file lacks");
    f.add("data.max_source", d.max_source, "a longer text is cut after so many tokens; 0: no limit",
          Limit::between(0, kMostTokens));
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "encoder of the tokens, and for hierarchical attention of the sentences too",
          Limit::one_of(encode::all_encoders().names()));
    add_size_keys(f, m);
    f.add(
        "model.pool", m.pool,
        "how the states of a text become one vector: attention, as [attention] says, or their mean, their maximum, or "
        "the first of them",
        Limit::one_of(heed::words_of(model::kPools)));
    auto& own = m.own.of<LabelKeys>();
    f.add("model.label_hidden", own.hidden, "units of a hidden layer before the labels; 0: there is none",
          Limit::between(0, 65536));
    f.add("model.relation", own.relation,
          "two texts: how they are judged together: pool, compare, word_by_word or joined (docs/labels.md)",
          Limit::one_of(all_relations().names()));
    f.add("model.compared", own.compared,
          "compare: what stands for a token: the states of the encoder, the vectors of words, or both side by side",
          Limit::one_of({"states", "vectors", "both"}));
    f.add("model.aggregate", own.aggregate,
          "compare: how the comparisons of a text become one vector: their sum, the largest numbers, or both",
          Limit::one_of({"sum", "max", "sum_max"}));
    f.add("model.penalty", m.penalty, "structured attention: weight of |A A^T - I|^2 in the loss",
          Limit::between(0, 1e6));
    f.add("model.pool_layer", m.pool_layer, "a layer behind that, with its activation, or none",
          Limit::one_of(heed::words_of(model::kPoolLayers)));
    add_reading_keys(f, m);
    add_stack_keys(f, m);
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    add_token_keys(f, "target", {}, d.target);
    f.add("model.two_texts", d.model.two_texts, "two texts, separated by a tab, are judged together");
    f.add("answers.label_separator", d.answers.label_separator,
          "what separates the labels of a text that may have several; empty: each text has one label");
    f.add("answers.max_source", d.answers.max_source, "a longer text is cut after so many tokens; 0: no limit",
          Limit::between(0, kMostTokens));
  }

  std::vector<std::string> attention_places() const override {
    return {encode::kEncoderPlace, kPoolPlace, kOtherPlace};
  }
  std::vector<std::string> own_attention_keys() const override { return {"queries"}; }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    if (std::string wrong = size_problem("source", d.source); !wrong.empty()) all.push_back(std::move(wrong));
    if (d.train.tsv.empty()) all.emplace_back("there is no data: data.tsv");
    if (d.train.source_column > 0 && d.train.source_column == d.train.target_column)
      all.push_back(fmt::format("data.text_column and data.label_column are both {}", d.train.source_column));
    if (d.train.second_column > 0 &&
        (d.train.second_column == d.train.source_column || d.train.second_column == d.train.target_column))
      all.push_back(fmt::format("data.second_text_column is {}, as is data.text_column or data.label_column",
                                d.train.second_column));
    if (std::string wrong = class_weights_problem(d.class_weights); !wrong.empty()) all.push_back(std::move(wrong));
    if (!d.label_separator.empty() && d.class_weights != "none")
      all.emplace_back("data.class_weights is for texts with one label each, but data.label_separator is set");
    if (d.vectors_fixed && d.vectors.empty()) all.emplace_back("data.vectors_fixed needs data.vectors");
    const encode::Chosen pool = encode::chosen(m.attention, m.places, kPoolPlace, 0);
    if (m.penalty > 0 && pool.options.structure != "structured")
      all.emplace_back("model.penalty is for attention.structure = \"structured\"");
    return all;
  }

  std::vector<std::string> metrics() const override { return {"accuracy", "macro_f1", "micro_f1", "exact"}; }

  metric::MetricOptions metric_options(const Description& description) const override {
    metric::MetricOptions options;
    options.label_separator = description.answers.label_separator;
    return options;
  }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawLabelCorpus>(options, seed);
  }
  data::References read_references(const std::filesystem::path& tsv, const data::Options& options,
                                   data::Report& report) const override {
    return read_labelled(tsv, options, report);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    model::Options of_labels = options;
    of_labels.target_vocabulary -= text::kSpecials;
    return std::make_unique<Classifier>(parameters, of_labels);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()));
  }
  std::optional<EncoderPart> encoder_part(const model::Options& model) const override {
    if (model.two_texts && !has_encoder(model)) return {};
    return EncoderPart{.layers = Classifier::reads_sentences(model) ? "word.encoder" : "text.encoder",
                       .kind = model.encoder_kind(),
                       .depth = model.encoder_layers,
                       .both_ways = model.bidirectional,
                       .only_heads = true};
  }
  std::vector<std::string> start_training(Parameters& parameters, const Vocabularies& vocabularies,
                                          const data::Options& d, bool fresh) const override {
    return start_from_vectors(parameters, vocabularies, d, fresh);
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return predict_labels(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_labels(asked, pairs);
  }

  AttentionPlace place_of(std::string_view attention, int64_t call, const model::Options& model) const override {
    using enum AttentionRows;
    if (model.two_texts) {
      const RelationEntry& relation = find_relation(model.own.of<LabelKeys>().relation);
      constexpr std::string_view kScope = "text.";
      if (!attention.starts_with("text.encoder."))
        return relation.place(attention.substr(std::min(attention.size(), kScope.size())), call);
      const AttentionRows rows = relation.joins ? both : call > 0 ? second : source;
      return {"self-attention of the words", rows, rows};
    }
    const bool of_sentences = attention.starts_with("sentence."), pools = attention.ends_with(".pool");
    const AttentionRows rows = of_sentences ? sentences : source;
    if (attention == "word.pool") return {"words that count", sentences, source};
    if (pools) return {of_sentences ? "sentences that count" : "words that count", pooled, rows};
    return {of_sentences ? "self-attention of the sentences" : "self-attention of the words", rows, rows};
  }
};

}  // namespace

const Task& label_task() {
  static const LabelTask task;
  return task;
}

}  // namespace heed::task
