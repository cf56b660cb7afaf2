// A kind of task: what goes in, what comes out, and all that follows from that. The trainer, the predictor, the program
// and Python know tasks by this interface alone; all.h is the one list of them.
//
//   recipe     add_data, add_model, problems    the keys of its [data] and [model] sections, and what must fit together
//   data       read -> Texts -> vocabularies -> Corpus
//   model      make
//   answers    predict, score
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/data/options.h"
#include "heed/data/pairs.h"
#include "heed/file/fields.h"
#include "heed/layer/parameters.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/search/tape_pool.h"
#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"
#include "heed/task/suggestion.h"
#include "heed/task/vocabularies.h"

namespace heed::task {

/// Everything that a training keeps of its data.
struct Corpus {
  std::unique_ptr<data::Dataset> train, valid;
  data::References references;        // of the validation: lines to ask, and all right answers to each
  std::vector<std::string> warnings;  // about lines that were left out
  std::string fingerprint;            // of all ids: the same data gives the same
};

/// The data of a training as it was read or made up.
class Texts {
 public:
  virtual ~Texts() = default;

  /// What fits them, for keys of [data], [model], [attention], [train] and [validate] that are open. What is not open
  /// was decided.
  virtual std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                          const model::Options& model) const = 0;

  /// As the options say how. With `known`, these grow by what they lack and keep the ids of what they have.
  virtual Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known = nullptr) const = 0;
  /// May be asked once: what is needed no more is let go.
  virtual Corpus encode(const Vocabularies& vocabularies, const data::Options& options) = 0;

  virtual data::References validation() const = 0;    // as Corpus::references, of all lines
  virtual std::string validation_report() const = 0;  // lines of it that cannot be used; empty: none
};

/// A model to ask, wherever it comes from.
struct Answering {
  const model::Model& model;
  const Vocabularies& vocabularies;
  int64_t longest;  // tokens of an output, where the options do not say
  search::TapePool& tapes;
};

class Task {
 public:
  explicit Task(const char* name_in_recipes, const char* what_it_does) : name(name_in_recipes), meaning(what_it_does) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const char* const name;     // the word in recipes: model.task
  const char* const meaning;  // a few words

  // ------------------------------------------------------------------------------------------------------------ recipe
  virtual void add_data(file::Fields& fields, data::Options& data) const = 0;
  virtual void add_model(file::Fields& fields, model::Options& model) const = 0;
  /// What does not fit together, a sentence each.
  virtual std::vector<std::string> problems(const data::Options& data, const model::Options& model) const = 0;
  /// Of outputs: what validate.metric may be, beside the loss; the first is what outputs are judged by where nothing
  /// else is said.
  virtual std::vector<std::string> metrics() const = 0;

  // -------------------------------------------------------------------------------------------------------------- data
  /// Reads or makes the data. Without files for validation a share is held out, drawn by the seed.
  virtual std::unique_ptr<Texts> read(const data::Options& options, uint64_t seed) const = 0;

  // ------------------------------------------------------------------------------------------------------------- model
  virtual std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const = 0;

  // ----------------------------------------------------------------------------------------------------------- answers
  /// [lines] -> [lines], in the same order. A line's answer depends neither on the lines beside it nor on the number of
  /// threads. Throws Error where the options have no meaning; what is wrong with a line stands in its Prediction.
  virtual std::vector<Prediction> predict(const Answering& asked, std::span<const std::string> lines,
                                          const PredictOptions& options) const = 0;
  /// [pairs] -> [pairs]: how likely the model finds each.
  virtual std::vector<PairScore> score(const Answering& asked, std::span<const TextPair> pairs) const = 0;
};

}  // namespace heed::task
