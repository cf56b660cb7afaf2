// From texts to ids, and back.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/data/examples.h"
#include "heed/file/checkpoint.h"
#include "heed/task/description.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The tokenisers of inputs and of outputs; the same one if the vocabulary is joint.
struct Vocabularies {
  std::shared_ptr<const text::Tokeniser> source, target;

  data::Tokenisers both() const { return {*source, *target}; }

  /// Calls add(name, contents) for each, once if the vocabulary is joint.
  void each_part(const Description& description, const std::function<void(const std::string&, std::string)>& add) const;
  static Vocabularies load(const file::Checkpoint& checkpoint, const Description& description);
};

}  // namespace heed::task
