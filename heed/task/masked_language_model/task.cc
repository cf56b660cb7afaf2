// The tokens that a text lacks: what an encoder is trained with before it learns something else. A file of text.
#include <fmt/format.h>

#include "heed/model/choices.h"
#include "heed/model/encode/all.h"
#include "heed/task/all.h"
#include "heed/task/masked_language_model/answers.h"
#include "heed/task/masked_language_model/masked_model.h"
#include "heed/task/masked_language_model/texts.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

class MaskedTokenTask final : public Task {
 public:
  MaskedTokenTask()
      : Task("masked_language_model", "masked_tokens",
             "the tokens that a text lacks: what encoders learn first, to start other trainings from") {}

  const char* learns() const override { return "which tokens its texts lack"; }
  const char* example_word() const override { return "text"; }
  const char* prediction_word() const override { return "masked token"; }
  AnswerKind answers() const override { return AnswerKind::filled; }
  std::vector<std::string> file_keys(int64_t files, DataRole role) const override {
    if (files != 1) return {};
    return {role == DataRole::train ? "data.text" : "data.valid_text"};
  }

  void set_defaults(data::Options& d, model::Options& m) const override {
    d.joint = true;
    d.documents = "line";
    d.source.kind = "sentencepiece";
    m.kind = encode::transformer_encoder.name;
    m.tied = "all";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What the model learns: texts from a file.");
    add_text_keys(f, d);
    add_tokeniser_keys(f, "text", text::Tokeniser::kinds_to_read(), d.source);
    f.add("data.sentencepiece", d.source.model, "how sentencepiece learns its pieces",
          Limit::one_of({"unigram", "bpe"}));
    f.add("data.mask_share", d.masks.share, "share of the tokens that the model is asked about, at least one of a text",
          Limit{.least = Limit::Bound{0, false}, .most = Limit::Bound{1}});
    f.add("data.mask_replaced", d.masks.replaced, "share of these that it reads as a mask", Limit::between(0, 1));
    f.add("data.mask_random", d.masks.random, "share of these that it reads as another token; the rest stay",
          Limit::between(0, 1));
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "encoder of the texts", Limit::one_of(encode::all_encoders().names()));
    f.add("model.width", m.width, "width of vectors and states", Limit::between(1, 65536));
    f.add("model.layers", m.encoder_layers, "layers", Limit::between(1, 1000));
    f.add("model.context", m.context, "tokens that are read at once; a longer document is cut",
          Limit::between(1, kLongest));
    f.add("model.dropout", m.dropout, "share of the numbers set to 0 in training", Limit::from_to_below(0, 1));
    f.add("model.tied", m.tied, "all: one table for the vectors of tokens that are read and predicted",
          Limit::one_of({"none", "all"}));
    f.add("model.transform", m.transform,
          "a layer, its activation and a norm between the states and the output, as in BERT");
    add_reading_keys(f, m);
    add_stack_keys(f, m);
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "text", text::Tokeniser::kinds_to_read(), d.source);
    f.add("answers.documents", d.answers.documents,
          "what is read without knowing the rest: the whole text, what stands between blank lines, or each line",
          Limit::one_of(heed::words_of(kDocuments)));
  }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    if (std::string wrong = size_problem("text", d.source); !wrong.empty()) all.push_back(std::move(wrong));
    if (d.train.source.empty()) all.emplace_back("there is no data: data.text");
    if (d.masks.replaced + d.masks.random > 1)
      all.push_back(fmt::format("data.mask_replaced = {} and data.mask_random = {} are more than 1 together",
                                d.masks.replaced, d.masks.random));
    if (!encode::find_encoder(m.encoder_kind()).self_attention && !is_untouched(m.attention) && m.places.empty())
      all.push_back(fmt::format("[attention] has no effect: model.kind = \"{}\" has no attention", m.kind));
    return all;
  }

  std::vector<std::string> attention_places() const override { return {encode::kEncoderPlace}; }
  std::vector<std::string> metrics() const override { return {}; }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawMaskedCorpus>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    return std::make_unique<MaskedModel>(parameters, options);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()));
  }
  std::optional<EncoderPart> encoder_part(const model::Options& model) const override {
    return EncoderPart{.vectors = "source",
                       .layers = "encoder",
                       .kind = model.encoder_kind(),
                       .depth = model.encoder_layers,
                       .both_ways = model.bidirectional};
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return fill_in(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_masked(asked, pairs);
  }
  std::optional<TextScore> score_file(const LoadedModel& asked, const std::filesystem::path& file,
                                      const std::function<void(int64_t)>& done) const override {
    return score_masked_file(asked, file, done);
  }

  AttentionPlace place_of(std::string_view, int64_t, const model::Options&) const override {
    return {"self-attention", AttentionRows::source, AttentionRows::source};
  }
};

}  // namespace

const Task& masked_token_task() {
  static const MaskedTokenTask task;
  return task;
}

}  // namespace heed::task
