// The keys of [model] that models of labels alone have.
#pragma once

#include <cstdint>
#include <string>

namespace heed::task {

struct LabelKeys {
  int64_t hidden = 0;  // units of a layer before the labels; 0: there is none

  // Two texts: relation/all.h
  std::string relation = "pool";      // how they are judged together
  std::string compared = "states";    // compare: what stands for a token
  std::string aggregate = "sum_max";  // compare: how the comparisons of a text become one vector
};

}  // namespace heed::task
