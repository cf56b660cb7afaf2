// From the data of a recipe to what is trained and validated on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/examples.h"
#include "heed/file/checkpoint.h"
#include "heed/train/recipe.h"

namespace heed::train {

/// The tokenisers of both sides; one for both where the vocabulary is joint.
struct Vocabularies {
  std::shared_ptr<const Tokeniser> source, target;

  Tokenisers both() const { return {*source, *target}; }
  void save(file::CheckpointWriter& writer) const;  // source.vocab, and target.vocab where it is another one
  static Vocabularies load(const file::Checkpoint& checkpoint, const DataOptions& options);
};

struct TextPairs {
  Pairs train, valid;
  std::vector<Report> reports;  // of lines that cannot be used: training, validation
};

/// Reads or makes the pairs. Without files for validation a share of the sources is held out, with all their targets.
TextPairs load_pairs(const DataOptions& options, uint64_t seed);

Vocabularies learn_vocabularies(const Pairs& pairs, const DataOptions& options);

/// Everything that a session keeps of the data.
struct Corpus {
  Examples train, valid;
  References references;              // of the validation
  std::vector<std::string> warnings;  // about lines that were left out
  std::string fingerprint;            // of all ids: the same data gives the same
};

Corpus make_corpus(TextPairs pairs, const Vocabularies& vocabularies, const DataOptions& options);

}  // namespace heed::train
