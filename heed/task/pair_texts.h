// From the data of a recipe to pairs of texts, and on to what is trained and validated on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/examples.h"
#include "heed/data/report.h"
#include "heed/task/pair_suggestions.h"
#include "heed/task/task.h"

namespace heed::task {

struct TextPairs {
  data::Pairs train, valid;
  std::vector<data::Report> reports;    // of lines that cannot be used: training, validation
  std::vector<std::string> hints = {};  // for the user
};

/// Reads or makes the pairs. Without files for validation a share of the sources is held out, with all their targets.
TextPairs load_pairs(const data::Options& options, uint64_t seed);

/// With `known`, these grow by the tokens that they lack; SentencePiece's pieces stay as they are.
Vocabularies learn_vocabularies(const data::Pairs& pairs, const data::Options& options,
                                const Vocabularies* known = nullptr);

Corpus make_corpus(TextPairs pairs, const Vocabularies& vocabularies, const data::Options& options);

/// The three of them as a task asks for them.
class PairTexts final : public Texts {
 public:
  PairTexts(const data::Options& options, uint64_t seed) : pairs_(load_pairs(options, seed)) {}

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override {
    return task::suggest(facts_of(pairs_.train), open, data, model);
  }
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override {
    return task::learn_vocabularies(pairs_.train, options, known);
  }
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options) override {
    return make_corpus(std::move(pairs_), vocabularies, options);
  }
  data::References validation() const override { return data::group_references(pairs_.valid); }
  std::string validation_report() const override;

 private:
  TextPairs pairs_;
};

}  // namespace heed::task
