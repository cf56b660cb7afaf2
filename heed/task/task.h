// A kind of task: what goes in, what comes out, and everything that follows from that. The trainer, the predictor, the
// program and Python use tasks only through this interface; all.h lists them.
//
//   recipe       add_data, add_model, problems       the keys of its [data] and [model] sections, and how they must
//   agree description  add_model, add_description, contradictions    what its models are, apart from how they were
//   trained data         read -> RawCorpus -> vocabularies -> Corpus model        make answers      predict, score
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "heed/data/dataset.h"
#include "heed/data/options.h"
#include "heed/data/pairs.h"
#include "heed/layer/parameters.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/search/ensemble_mean.h"
#include "heed/model/search/tape_pool.h"
#include "heed/task/attention_place.h"
#include "heed/task/description.h"
#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"
#include "heed/task/suggestion.h"
#include "heed/task/vocabularies.h"
#include "heed/text/metric/all.h"

namespace heed::task {

/// What goes into a model besides targets.
enum class SourceKind {
  text,
  picture,  // perhaps with a text about it
  sound,    // a recording
  none,     // running text: a line is the beginning of its own continuation
};

/// What comes out.
enum class AnswerKind {
  text,
  label,
  continuation,  // of a text, which is what it was trained on
  filled,        // a text that lacked tokens, with them
  vector,        // numbers
};

/// What a line is made of.
struct LineParts {
  std::string_view text = {};
  std::string_view picture = {};  // its name: heed/data/picture_source.h
  std::string_view sound = {};    // its name: heed/data/sound_source.h
};

/// What is known of the encoder and the decoder of a model, from their entries.
struct StackFacts {
  std::vector<std::string> keys = {};  // of [model] that they read, beside those that all have
  int64_t updates_to_learn = 0;        // after which it has learned most
};

/// The encoder inside a model: a training of another task may start from it, or give it the weights of another one.
struct EncoderPart {
  const char* vectors = "source";  // the scope of the vectors of tokens among the parameters
  std::string layers = "encoder";  // that of its layers
  std::string kind = {};           // its name: heed/model/encode/all.h
  int64_t depth = 0;               // layers
  bool both_ways = true;           // recurrent: it reads in both directions
  /// Of [attention] it reads the number of heads; the rest is about something else.
  bool only_heads = false;
};

/// What data is for.
enum class DataRole { train, valid };

/// The data of a training run, as ids.
struct Corpus {
  std::unique_ptr<data::Dataset> train, valid;
  data::References references;        // of the validation data: sources, and all right answers to each
  std::vector<std::string> warnings;  // about lines that were left out
  std::string fingerprint;            // a hash of all ids: the same for the same data
};

/// The data of a training run, as text, read or generated.
class RawCorpus {
 public:
  virtual ~RawCorpus() = default;

  /// Values that fit the texts, for open keys of [data], [model], [attention], [train] and [validate]. The other keys
  /// were given.
  virtual std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                          const model::Options& model) const = 0;

  /// With `known`, missing tokens are added to those vocabularies, and existing tokens keep their ids. One that is null
  /// is learned: of an encoder that a training starts from only the source is known.
  virtual Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known = nullptr) const = 0;
  /// May be called only once: it frees the texts.
  virtual Corpus encode(const Vocabularies& vocabularies, const data::Options& data, const model::Options& model) = 0;

  virtual data::References validation() const = 0;    // like Corpus::references, but of all lines
  virtual std::string validation_report() const = 0;  // its unusable lines; empty: none
};

/// A model to predict with, wherever it comes from.
struct LoadedModel {
  const model::Model& model;
  const Vocabularies& vocabularies;
  const Description& description;
  int64_t stride = 0;  // running text that is scored: ScoreOptions::stride
  search::TapePool& tapes;

  // Further models of an ensemble, which write together with this one (model/search/ensemble.h):
  std::vector<LoadedModel> others = {};
  search::Mean mean = search::Mean::log_probabilities;
  bool same_sources = true;  // all of them cut sources into the same tokens

  /// visit(each): this one and the others.
  template <class Visit>
  void each_model(const Visit& visit) const {
    visit(*this);
    for (const LoadedModel& other : others) visit(other);
  }
  /// The fewest positions of any of them.
  int64_t max_positions() const {
    int64_t fewest = model.max_positions();
    for (const LoadedModel& other : others) fewest = std::min(fewest, other.model.max_positions());
    return fewest;
  }
};

class Task {
 public:
  Task(const char* name_in_recipes, const char* former, const char* what_it_does)
      : name(name_in_recipes), former_names(former), meaning(what_it_does) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const char* const name;          // the word in recipes: model.task
  const char* const former_names;  // and other words, between blanks, which are read as this one
  const char* const meaning;       // a few words

  // What reports call an example ("3,000 pairs") and a prediction ("5,000 tokens/s"), in the singular.
  virtual const char* example_word() const { return "pair"; }
  virtual const char* prediction_word() const { return "token"; }

  virtual SourceKind sources() const { return SourceKind::text; }
  virtual AnswerKind answers() const { return AnswerKind::text; }
  /// Its data are pairs of texts: the models write the second for the first.
  bool writes_texts_for_texts() const { return sources() == SourceKind::text && answers() == AnswerKind::text; }
  /// Its models write token by token, so that a search finds their answers.
  bool writes() const { return answers() == AnswerKind::text || answers() == AnswerKind::continuation; }
  /// Its data are texts without answers; a text is judged by how well it is predicted: score_file().
  bool reads_running_text() const { return answers() == AnswerKind::continuation || answers() == AnswerKind::filled; }
  virtual LineParts parts_of(std::string_view line) const { return {.text = line}; }

  // ------------------------------------------------------------------------------------------------------------ recipe
  /// Values that differ from those of the structs, for a recipe that leaves them out.
  virtual void set_defaults(data::Options&, model::Options&) const {}
  virtual void add_data(file::Fields& fields, data::Options& data) const = 0;
  virtual void add_model(file::Fields& fields, model::Options& model) const = 0;
  /// The places that attention can be chosen for, as [attention.PLACE]. A model may lack some of them.
  virtual std::vector<std::string> attention_places() const {
    return {encode::kEncoderPlace, encode::kDecoderPlace, encode::kSourcePlace};
  }
  /// Keys of [attention] that mean something for this task only.
  virtual std::vector<std::string> own_attention_keys() const { return {}; }
  /// Contradictions between keys, one sentence each.
  virtual std::vector<std::string> problems(const data::Options& data, const model::Options& model) const = 0;
  /// Metrics of outputs: the values of validate.metric besides the loss. The first is the default.
  virtual std::vector<std::string> metrics() const = 0;
  /// How a metric reads the outputs of such a model.
  virtual metric::MetricOptions metric_options(const Description&) const { return {}; }

  // ------------------------------------------------------------------------------------------------------- description
  /// Its keys of [tokens] and [answers], and those of [model] that follow from the data in a recipe.
  virtual void add_description(file::Fields& fields, Description& description) const = 0;
  /// What cannot be true of one model, one sentence each.
  virtual std::vector<std::string> contradictions(const Description&) const { return {}; }

  // -------------------------------------------------------------------------------------------------------------- data
  /// Why the name and the first lines of a file look like data for this task more than for a more general one (all.h):
  /// "column 2 has 8 different values". Empty: they do not, or the file can be read only once.
  virtual std::string recognises(const std::filesystem::path& /*file*/) const { return ""; }
  /// Keys that follow from a file of data that is given without a recipe, as --set takes them: which of its columns are
  /// read together. Keys that the user set are left alone.
  virtual std::vector<std::string> settings_of(const std::filesystem::path& /*file*/) const { return {}; }
  /// What is learned, in a few words: "labels".
  virtual const char* learns() const = 0;
  /// The keys that name the files of the data, one for each file. Empty: the data is never in so many files.
  virtual std::vector<std::string> file_keys(int64_t files, DataRole role) const;
  /// Reads or generates the data. Without validation files, a share drawn with the seed is held out.
  virtual std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const = 0;
  /// Reads a TSV to evaluate on, with the columns of the training data in `options`: by default each source once, with
  /// all its right answers.
  virtual data::References read_references(const std::filesystem::path& tsv, const data::Options& options,
                                           data::Report& report) const;

  // ------------------------------------------------------------------------------------------------------------- model
  virtual std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const = 0;

  virtual StackFacts stacks(const model::Options& model) const = 0;
  /// None: its models have no encoder of texts.
  virtual std::optional<EncoderPart> encoder_part(const model::Options& /*model*/) const { return {}; }

  /// Before training: marks weights that are not trained and, if `fresh`, sets those that start from something other
  /// than random numbers. Returns what the user should know.
  virtual std::vector<std::string> start_training(Parameters&, const Vocabularies&, const data::Options&,
                                                  bool /*fresh*/) const {
    return {};
  }

  // ----------------------------------------------------------------------------------------------------------- answers
  /// [lines] -> [lines], in the same order. A line's answer depends neither on the other lines nor on the number of
  /// threads. Throws Error for invalid options; what is wrong with a line is in its Prediction.
  virtual std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                          const PredictOptions& options) const = 0;
  /// [pairs] -> [pairs]: the probability of each target, given its source.
  virtual std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const = 0;

  /// The place of an attention of its models, from its name there ("decoder.0.source"). `call`: 1 for the second call
  /// of the same one, as for the second of two texts.
  virtual AttentionPlace place_of(std::string_view attention, int64_t call, const model::Options& model) const = 0;

  /// Where reads_running_text(): how well its models predict the text of a file. `done`, if any, is told of tokens.
  /// Nothing of others.
  virtual std::optional<TextScore> score_file(const LoadedModel& /*asked*/, const std::filesystem::path& /*file*/,
                                              const std::function<void(int64_t)>& /*done*/) const {
    return {};
  }
};

}  // namespace heed::task
