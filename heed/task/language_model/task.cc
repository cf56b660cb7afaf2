// The next token of a text: language models. One file of text, or a line or paragraph for each document.
#include <fmt/format.h>

#include "heed/data/lines.h"
#include "heed/model/choices.h"
#include "heed/model/decode/text_decoder.h"
#include "heed/task/all.h"
#include "heed/task/language_model/answers.h"
#include "heed/task/language_model/language_model.h"
#include "heed/task/language_model/texts.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

/// A file that is not named as a table, and whose first lines have no tab.
std::string looks_like_running_text(const std::filesystem::path& path) {
  std::filesystem::path name = path;
  if (name.extension() == ".gz") name = name.stem();
  if (name.extension() != ".txt" && name.extension() != ".text") return "";
  constexpr int64_t kLooked = 100;
  data::LineReader lines(path);
  for (std::string line; lines.number() < kLooked && lines.next(line);)
    if (line.find('\t') != std::string::npos) return "";
  return fmt::format("'{}' has no tabs (pairs need a tab and a target after each source)", path.string());
}

class NextTokenTask final : public Task {
 public:
  NextTokenTask() : Task("language_model", "next_token", "the next token of a text: language models") {}

  const char* learns() const override { return "to go on with its text"; }
  std::string recognises(const std::filesystem::path& file) const override { return looks_like_running_text(file); }
  std::vector<std::string> file_keys(int64_t files, DataRole role) const override {
    if (files != 1) return {};
    return {role == DataRole::train ? "data.text" : "data.valid_text"};
  }

  void set_defaults(data::Options& d, model::Options&) const override {
    d.joint = true;
    d.source.coverage = 1;  // no character is unknown, or else bits per character would look too good
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What the model learns: running text from a file.");
    add_text_keys(f, d);
    add_tokeniser_keys(f, "text", text::Tokeniser::kinds_to_write(), d.source);
    f.add("data.sentencepiece", d.source.model, "how sentencepiece learns its pieces",
          Limit::one_of({"unigram", "bpe"}));
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "what reads the text", Limit::one_of(decode::all_text_decoders().names()));
    f.add("model.width", m.width, "width of vectors and states", Limit::between(1, 65536));
    f.add("model.layers", m.decoder_layers, "layers", Limit::between(1, 1000));
    f.add("model.context", m.context,
          "tokens that are read at once; a transformer looks back no further, an rnn learns from no further back",
          Limit::between(1, kLongest));
    f.add("model.dropout", m.dropout, "share of the numbers set to 0 in training", Limit::from_to_below(0, 1));
    f.add("model.tied", m.tied, "decoder: one table for the vectors of tokens that are read and predicted",
          Limit::one_of({"none", "decoder"}));
    f.add("model.look_back", m.look_back,
          "rnn: its states look back at earlier ones by attention, as [attention] says, or not",
          Limit::one_of(heed::words_of(model::kLooksBack)));
    add_cell_key(f, m);
    add_transformer_keys(f, m);
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "text", text::Tokeniser::kinds_to_write(), d.source);
    f.add("answers.documents", d.answers.documents,
          "what is read without knowing the rest: the whole text, what stands between blank lines, or each line",
          Limit::one_of(heed::words_of(kDocuments)));
  }

  std::vector<std::string> attention_places() const override { return {encode::kDecoderPlace}; }
  std::vector<std::string> own_attention_keys() const override { return {"predict"}; }

  std::vector<std::string> problems(const data::Options& d, const model::Options&) const override {
    std::vector<std::string> all;
    if (std::string wrong = size_problem("text", d.source); !wrong.empty()) all.push_back(std::move(wrong));
    if (d.train.source.empty()) all.emplace_back("there is no data: data.text");
    return all;
  }

  std::vector<std::string> metrics() const override { return {}; }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawTextCorpus>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    return std::make_unique<LanguageModel>(parameters, options);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(decode::find_text_decoder(model.decoder_kind()));
  }
  std::optional<EncoderPart> encoder_part(const model::Options& model) const override {
    return EncoderPart{.vectors = "text",
                       .layers = decode::find_text_decoder(model.decoder_kind()).layers,
                       .kind = model.decoder_kind(),
                       .depth = model.decoder_layers,
                       .both_ways = false};
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return continue_texts(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_texts(asked, pairs);
  }

  AttentionPlace place_of(std::string_view attention, int64_t, const model::Options&) const override {
    using enum AttentionRows;
    return {attention.ends_with(".self") ? "self-attention" : "looking back", text, text};
  }
  std::optional<TextScore> score_file(const LoadedModel& asked, const std::filesystem::path& file,
                                      const std::function<void(int64_t)>& done) const override {
    return score_text_file(asked, file, done);
  }
  SourceKind sources() const override { return SourceKind::none; }
  AnswerKind answers() const override { return AnswerKind::continuation; }
  const char* example_word() const override { return "piece"; }
};

}  // namespace

const Task& next_token_task() {
  static const NextTokenTask task;
  return task;
}

}  // namespace heed::task
