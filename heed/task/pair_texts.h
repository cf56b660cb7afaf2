// From the data of a recipe to pairs of texts, then to training and validation data.
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
  std::vector<data::Report> reports;  // of unusable lines: training, validation
  int64_t lines = 0;                  // of the file for training, the unusable ones too
};

/// Reads or generates the pairs. Without validation files, a share of the sources is held out, with all their targets.
/// `key`: what a source is known by then; those with the same key stay together.
using SourceKey = std::string_view (*)(std::string_view source);
TextPairs load_pairs(
    const data::Options& options, uint64_t seed, SourceKey key = [](std::string_view source) { return source; });

/// `sources`: with data.joint of both sides. With `known`, missing tokens are added to those vocabularies;
/// SentencePiece's pieces stay as they are.
Vocabularies learn_vocabularies(const data::Pairs& pairs, const data::Options& options,
                                const Vocabularies* known = nullptr);
using Sentences = std::vector<std::string_view>;
Vocabularies learn_vocabularies(const Sentences& sources, const Sentences& targets, const data::Options& options,
                                const Vocabularies* known = nullptr);

/// Where lines of the validation are counted: with the training, if they were held out from it.
data::Report& validation_report_of(TextPairs& pairs, const data::Options& options);
/// Adds what the user should know about lines that were skipped. Throws if nothing is left to train or validate on.
void check_and_warn(Corpus& corpus, TextPairs& pairs, const data::Options& options);

/// A hash of all ids: Corpus::fingerprint.
std::string fingerprint_of(const data::Examples& train, const data::Examples& valid);

Corpus make_corpus(TextPairs pairs, const Vocabularies& vocabularies, const data::Options& options);

/// These functions behind the interface Texts.
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
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options&) override {
    return make_corpus(std::move(pairs_), vocabularies, options);
  }
  data::References validation() const override { return data::group_references(pairs_.valid); }
  std::string validation_report() const override;

 private:
  TextPairs pairs_;
};

}  // namespace heed::task
