// What a search found, as text.
#pragma once

#include <span>
#include <string>

#include "heed/search/search.h"
#include "heed/task/output_rules.h"
#include "heed/task/prediction.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// `rules`: of its line. `source`: the tokens to copy from where the model wrote an unknown one; none: ⁇ stays.
Output output_of(search::Hypothesis&& hypothesis, const text::Tokeniser& target, const RulesOfLine& rules,
                 std::span<const std::string> source = {});

}  // namespace heed::task
