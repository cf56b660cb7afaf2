// What the output of one sentence must look like.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/model/search/phrases.h"

namespace heed::search {

/// Tokens, without START and END. A prefix goes before everything else: it may hold what must not come.
struct Rules {
  static constexpr int64_t kMostMust = 64;  // phrases that must come

  std::vector<int32_t> prefix = {};              // the output begins with these
  Phrases must = {};                             // each of them comes somewhere, or Hypothesis::missing names it
  std::shared_ptr<const Phrases> must_not = {};  // none of them comes; sentences may share them. Null: none
};

}  // namespace heed::search
