// The norm of all gradients together, and a limit on it.  Pascanu et al. 2013
#pragma once

#include "heed/layer/parameters.h"

namespace heed::optimise {

/// sqrt(sum g^2) over every parameter that has a gradient. The same bits for any number of threads.
double gradient_norm(const Parameters& parameters);

/// Scales all gradients so that their norm is at most `limit`, and returns the norm they had. If the norm is not
/// finite, nothing is changed: the caller sees it and decides.
double clip_gradients(Parameters& parameters, double limit);

}  // namespace heed::optimise
