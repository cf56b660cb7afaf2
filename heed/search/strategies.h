// The searches, for sources that are not empty.
#pragma once

#include "heed/search/steps.h"

namespace heed::search {

std::vector<Result> greedy(Steps& steps);       // the likeliest token at every step
std::vector<Result> beam_search(Steps& steps);  // the likeliest `beam` hypotheses of every length
std::vector<Result> sample(Steps& steps);       // every token drawn

}  // namespace heed::search
