// A vector for a text: to search by meaning, to find what is alike, as input of other programs. Pairs of texts.
#include <fmt/format.h>

#include "heed/model/choices.h"
#include "heed/model/encode/all.h"
#include "heed/task/all.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"
#include "heed/task/vectors/answers.h"
#include "heed/task/vectors/texts.h"
#include "heed/task/vectors/vector_model.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

class VectorTask final : public Task {
 public:
  VectorTask()
      : Task("vectors", "embeddings", "a vector for a text: learned from pairs of texts that belong together") {}

  const char* learns() const override { return "pairs of texts that belong together"; }
  AnswerKind answers() const override { return AnswerKind::vector; }

  void set_defaults(data::Options& d, model::Options& m) const override {
    d.joint = true;
    d.source.kind = "sentencepiece";
    m.pool = "mean";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What is learned: pairs of texts that belong together, such as questions and their answers.");
    add_folder_keys(f, d);
    f.add("data.tsv", d.train.tsv, "file with two texts on each line, separated by a tab; plain or gzip");
    f.add("data.first_column", d.train.source_column, "column of the first texts, from 1",
          Limit::between(1, kMostColumns));
    f.add("data.second_column", d.train.target_column, "column of the second", Limit::between(1, kMostColumns));
    add_header_key(f, d);
    f.add("data.valid_tsv", d.valid.tsv, "file to validate on, with the same columns");
    add_held_out_key(f, d);
    add_tokeniser_keys(f, "text", text::Tokeniser::kinds_to_read(), d.source);
    f.add("data.sentencepiece", d.source.model, "how sentencepiece learns its pieces",
          Limit::one_of({"unigram", "bpe"}));
    f.add("data.max_source", d.max_source, "a longer text is cut after so many tokens; 0: no limit",
          Limit::between(0, kMostTokens));
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "encoder of the texts", Limit::one_of(encode::all_encoders().names()));
    f.add("model.width", m.width, "width of vectors and states", Limit::between(1, 65536));
    f.add("model.layers", m.encoder_layers, "layers", Limit::between(1, 1000));
    f.add("model.dropout", m.dropout, "share of the numbers set to 0 in training", Limit::from_to_below(0, 1));
    f.add("model.pool", m.pool, "how the states of a text become one vector: their mean, their maximum, or the first",
          Limit::one_of({"mean", "max", "first"}));
    f.add("model.pool_layer", m.pool_layer, "a layer behind that, with its activation, or none",
          Limit::one_of(heed::words_of(model::kPoolLayers)));
    f.add("model.unit", m.unit, "vectors have the length 1: their product is the cosine of their angle");
    f.add("model.sharpness", m.sharpness, "vectors of length 1: what their products are multiplied by in training",
          Limit{.least = Limit::Bound{0, false}, .most = Limit::Bound{1e6}});
    add_reading_keys(f, m);
    add_stack_keys(f, m);
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "text", text::Tokeniser::kinds_to_read(), d.source);
    f.add("answers.max_source", d.answers.max_source, "a longer text is cut after so many tokens; 0: no limit",
          Limit::between(0, kMostTokens));
  }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    if (std::string wrong = size_problem("text", d.source); !wrong.empty()) all.push_back(std::move(wrong));
    if (d.train.tsv.empty()) all.emplace_back("there is no data: data.tsv");
    if (d.train.source_column == d.train.target_column)
      all.push_back(fmt::format("data.first_column and data.second_column are both {}", d.train.source_column));
    if (!encode::find_encoder(m.encoder_kind()).self_attention && !is_untouched(m.attention))
      all.push_back(fmt::format("[attention] has no effect: model.kind = \"{}\" has no attention", m.kind));
    return all;
  }

  std::vector<std::string> metrics() const override { return {}; }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawCouples>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    return std::make_unique<VectorModel>(parameters, options);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()));
  }
  std::optional<EncoderPart> encoder_part(const model::Options& model) const override {
    return EncoderPart{.kind = model.encoder_kind(), .depth = model.encoder_layers, .both_ways = model.bidirectional};
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return vectors_of(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel&, std::span<const TextPair> pairs) const override {
    std::vector<PairScore> scores(pairs.size());
    for (PairScore& score : scores) score.error = "this model gives vectors, not probabilities";
    return scores;
  }

  AttentionPlace place_of(std::string_view, int64_t, const model::Options&) const override {
    return {"self-attention", AttentionRows::source, AttentionRows::source};
  }
};

}  // namespace

const Task& vector_task() {
  static const VectorTask task;
  return task;
}

}  // namespace heed::task
