// From pairs of texts to what is trained and validated on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/data/examples.h"
#include "heed/task/seq2seq/suggestions.h"
#include "heed/task/task.h"
#include "heed/task/text_pairs.h"

namespace heed::task {

/// `encode`: how the model reads a source; its limits are those of the data.
Corpus make_corpus(TextPairs pairs, const Vocabularies& vocabularies, const data::Options& options,
                   data::EncodeOptions encode = {});

/// Whether a model of these options weighs the sentences of a source.
bool reads_sentences(const model::Options& options);

/// These functions behind the interface RawCorpus.
class RawPairCorpus final : public RawCorpus {
 public:
  RawPairCorpus(const data::Options& options, uint64_t seed) : pairs_(load_pairs(options, seed)) {}

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override {
    return task::suggest(facts_of(pairs_.train), open, data, model);
  }
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override {
    return task::learn_vocabularies(pairs_.train, options, known);
  }
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override {
    return make_corpus(std::move(pairs_), vocabularies, options,
                       {.by_sentence = reads_sentences(model), .copies = model.copying.on});
  }
  data::References validation() const override { return data::group_references(pairs_.valid); }
  std::string validation_report() const override;

 private:
  TextPairs pairs_;
};

}  // namespace heed::task
