// From the texts of a task to ids, and back.
#pragma once

#include <memory>

#include "heed/data/examples.h"
#include "heed/data/options.h"
#include "heed/file/checkpoint.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The tokenisers of what goes in and of what comes out; one for both where the vocabulary is joint.
struct Vocabularies {
  std::shared_ptr<const text::Tokeniser> source, target;

  data::Tokenisers both() const { return {*source, *target}; }
  void save(file::CheckpointWriter& writer) const;  // source.vocab, and target.vocab where it is another one
  static Vocabularies load(const file::Checkpoint& checkpoint, const data::Options& options);
};

}  // namespace heed::task
