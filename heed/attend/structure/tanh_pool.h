// A learned query on keys tanh(W h + b): how hierarchical attention pools each of its levels.   Yang et al. 2016
#pragma once

#include <memory>

#include "heed/attend/mechanism.h"
#include "heed/attend/options.h"
#include "heed/layer/parameters.h"

namespace heed::attend {

/// rows [tokens, key_width] -> [sequences, key_width]. Parameters: score.weight, score.bias, queries.
std::unique_ptr<Mechanism> tanh_pool(const Scope& scope, const Options& options);

}  // namespace heed::attend
