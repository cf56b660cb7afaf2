// A row for every mechanism of heed/attend: through attend::make, as a model would use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contest.h"

namespace heed::bench {

/// "mechanism_additive_fwd", "mechanism_additive_train", ... in the order of heed/attend/all.h.
std::vector<std::string> mechanism_cases();

/// Null where there is no such case.
std::unique_ptr<Contest> make_mechanism_case(const std::string& name);

}  // namespace heed::bench
