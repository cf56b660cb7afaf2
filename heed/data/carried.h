// What one update hands to the next: a text that is longer than a batch is read piece by piece, and a recurrent model
// goes on with the state in which it left the last piece. A state belongs to its stream of text: whoever reads the next
// piece of the stream needs this state and no other.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace heed::data {

/// The state of a model after a piece of text, as numbers: what they mean is up to the model. Without states there is
/// none.
struct CarriedState {
  std::vector<float> states = {};  // of each layer
  std::vector<float> rows = {};    // earlier states to look back at, one after another
  bool operator==(const CarriedState&) const = default;
};

/// By the place in the text, in tokens, where it goes on.
using RecurrentCarry = std::map<int64_t, CarriedState>;

}  // namespace heed::data
