// Whether two variants are the same model under two names: a decoder without a source has no place for local_p, and one
// whose heads are already several gains nothing from multi_head. Nobody lists such pairs; both are asked.
#pragma once

#include <memory>
#include <string>

#include "heed/train/recipe/recipe.h"
#include "heed/train/training_setup.h"

namespace heed::compare {

/// A few examples of the training data, among them the longest, that models are asked about.
class Probe {
 public:
  explicit Probe(const train::TrainingSetup& setup);

  /// What the variant's model computes from them before it learned anything: a hash of its loss and of all gradients in
  /// training, and of its loss at inference. Two variants that differ in [attention] alone, have the same hash and see
  /// no longer examples are trained to the same model. Empty: it cannot be asked, or its data differ.
  std::string hash(const recipe::Recipe& variant) const;

 private:
  recipe::Recipe base_;
  task::Vocabularies vocabularies_;
  data::Batch batch_;
};

/// What must be the same, beside the hash: all but how attention computes. Its schedules are not seen at the beginning.
std::string beside_attention(recipe::Recipe variant);

}  // namespace heed::compare
