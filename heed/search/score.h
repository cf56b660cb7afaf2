// How likely a model finds targets that are given.
#pragma once

#include "heed/search/search.h"

namespace heed::search {

struct Scored {
  double log_probability = 0.0;                // of the target and its END, given the source
  std::vector<float> token_log_probabilities;  // that of END last
};

/// A batch of pairs, by teacher forcing: all steps at once, and never the logits of all of them. The tape must not be
/// recording, and is reset.
std::vector<Scored> score(const model::Seq2Seq& model, Tape& tape, const model::Seq2SeqBatch& batch);

}  // namespace heed::search
