// From texts to ids, and back.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/data/examples.h"
#include "heed/task/description.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The tokenisers of inputs and of outputs; the same one if the vocabulary is joint.
struct Vocabularies {
  std::shared_ptr<const text::Tokeniser> source, target;

  data::Tokenisers both() const { return {*source, *target}; }

  /// Calls add(name, contents) for each, once if the vocabulary is joint.
  void each_part(const Description& description, const std::function<void(const std::string&, std::string)>& add) const;
  /// What it was called with, back: read(name) gives the contents, and what to call them in messages.
  struct Part {
    std::string contents, place;
  };
  static Vocabularies parse(const Description& description, const std::function<Part(const std::string&)>& read);
};

}  // namespace heed::task
