// A word that has taken the place of another one, which is still read.
#pragma once

#include <string>

namespace heed {

struct Renamed {
  std::string before, now;
};

}  // namespace heed
