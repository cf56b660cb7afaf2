// From texts to ids, and back.
#pragma once

#include <memory>

#include "heed/data/examples.h"
#include "heed/data/options.h"
#include "heed/file/checkpoint.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The tokenisers of inputs and of outputs; the same one if the vocabulary is joint.
struct Vocabularies {
  std::shared_ptr<const text::Tokeniser> source, target;

  data::Tokenisers both() const { return {*source, *target}; }
  void save(file::CheckpointWriter& writer) const;  // source.vocab, and target.vocab if it is not the same
  static Vocabularies load(const file::Checkpoint& checkpoint, const data::Options& options);
};

}  // namespace heed::task
