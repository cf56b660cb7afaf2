// What a model is, apart from how it was trained: all that is needed to run it. model.toml of a checkpoint, next to
// the recipe of its training, which a model that comes from elsewhere does not have.
//
//   version = 2
//   [tokens]     source = "characters"   source_vocabulary = "source.vocab"  ...
//   [model]      task = "seq2seq"  kind = "rnn"  ...
//   [attention]  score = "additive"  ...
//   [answers]    longest = 200  ...
//
// Each task declares its own keys of [tokens], [model] and [answers].
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "heed/base/fields.h"
#include "heed/data/options.h"
#include "heed/model/options.h"

namespace heed::task {

class Task;

/// Of model.toml. A model of version 1 is described by its recipe alone: version_1.h.
inline constexpr int64_t kDescriptionVersion = 2;

struct Description {
  /// How texts of one side are split into tokens, and the part of a checkpoint that holds its vocabulary.
  struct Side {
    std::string tokens;  // a kind of heed/text/tokeniser.h
    std::string vocabulary;
  };
  Side source = {"characters", "source.vocab"}, target = {"characters", "target.vocab"};
  bool joint = false;  // both sides have the vocabulary of the source

  /// With the task and the attention. The sizes of the vocabularies follow from those; trained::make_model() sets them.
  model::Options model;

  /// What answering needs to know beside the model. Every task has some of these keys.
  struct Answers {
    int64_t longest = 200;           // default for the longest output, in tokens
    int64_t max_source = 0;          // labels: a text is cut after this many tokens; 0: never
    std::string label_separator;     // labels: what separates several labels of a text; empty: it has one
    int64_t turns = 0;               // dialogues: the turns that are read before an answer; 0: pairs of texts
    std::string documents = "file";  // running text: what is read without knowing the rest (running_text.h)
  } answers;

  const Task& task() const;  // that model.task names
};

/// The model that these options of a recipe make.
Description describe(const data::Options& data, const model::Options& model, int64_t longest);

/// What a model of that task is where nothing is said.
Description default_description(const Task& task);

/// As TOML with comments.
std::string text_of(const Description& description);
/// From that text. It may come from anyone: throws with every mistake, an ErrorKind::file.
Description parse_description(std::string_view toml, std::string_view file);
/// Throws if it contradicts itself, as parse_description() does.
void expect_consistent(const Description& description, std::string_view file);

/// Every key with its value in TOML: "attention.heads" and "4".
std::map<std::string, std::string> values_of(const Description& description);
/// How the models differ, whatever their answers are limited to: "model.width is 64, was 32". Empty: not at all.
std::string difference(const Description& now, const Description& before);

// For the tasks. tokens.SIDE, one of `kinds` (none: the task decides), and tokens.SIDE_vocabulary:
void add_token_keys(file::Fields& fields, const std::string& side, const std::vector<std::string>& kinds,
                    Description::Side& target);

}  // namespace heed::task
