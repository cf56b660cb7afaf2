// From files of running text to what a model is trained and validated on: what models of the next token and of masked
// tokens share, and the former.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/task/language_model/running_text.h"
#include "heed/task/task.h"

namespace heed::task {

/// What one look through a text tells.
struct RunningTextFacts {
  int64_t lines = 0, documents = 0, characters = 0, words = 0;
  int64_t before_last = 0;  // characters before the last line
  int64_t letters = 0;      // different characters, among the lines that are learned from
};

/// Tokens of documents, one after another, as TextEncoder has them.
struct EncodedText {
  std::shared_ptr<const TokenStore> tokens;
  int64_t characters = 0;  // of the text behind them
};

/// Keys that name the text, say what a document of it is, and what is held out.
void add_text_keys(file::Fields& fields, data::Options& data);

class RunningTextCorpus : public RawCorpus {
 public:
  /// Reads through the files once. They are read again to be encoded, and never held.
  RunningTextCorpus(const data::Options& options, uint64_t seed);

  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override;
  data::References validation() const override { return {}; }
  std::string validation_report() const override;

 protected:
  /// The examples of the corpus from its tokens.
  virtual void make_examples(Corpus& corpus, const EncodedText& train, const EncodedText& valid,
                             const data::Options& options, const model::Options& model) const = 0;
  const RunningTextFacts& facts() const { return facts_; }
  uint64_t seed() const { return seed_; }

 private:
  void look(const std::filesystem::path& file);
  bool is_held_out(const TextLine& line, int64_t characters_before) const;
  /// Of the last line of a text whose lines are too long to hold one out: the bytes that are trained on.
  size_t kept_of(std::string_view line) const;

  data::Options options_;
  Documents documents_;
  uint64_t seed_;
  RunningTextFacts facts_;
  data::Report report_;
  double held_out_ = 0;              // share
  std::vector<std::string> sample_;  // lines to learn a vocabulary from
};

class RawTextCorpus final : public RunningTextCorpus {
 public:
  using RunningTextCorpus::RunningTextCorpus;

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;

 protected:
  void make_examples(Corpus& corpus, const EncodedText& train, const EncodedText& valid, const data::Options& options,
                     const model::Options& model) const override;
};

}  // namespace heed::task
