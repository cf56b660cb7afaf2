// How the models of an ensemble agree: see ensemble.h.
#pragma once

#include "heed/base/choice.h"

namespace heed::search {

enum class Mean {
  log_probabilities,  // the product of the probabilities, so to speak: every model may object
  probabilities,      // their sum: what one model finds likely stays possible
};

inline constexpr Choice<Mean> kMeans[] = {{"log_probabilities", Mean::log_probabilities},
                                          {"probabilities", Mean::probabilities}};

}  // namespace heed::search
