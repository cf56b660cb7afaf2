// Targets with blanks: what a model that writes all positions at once reads, and what it should write there.
//
// With `slots` = 0 a target y_1 .. y_n has n rows. Otherwise it has that many: y_1 .. y_n END END .. END; only the
// tokens and the first END are predicted. Whatever follows a known END is known to be END, and whatever follows a blank
// END is blank: so it is while an output is written.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/data/batch.h"

namespace heed::model {

struct BlankedTargets {
  std::vector<int32_t> tokens = {};       // [rows]: a token, or embed::kBlank
  std::vector<int64_t> offsets = {0};     // [B + 1], of the rows
  std::vector<int64_t> asked = {};        // the rows that are predicted
  std::vector<int32_t> answers = {};      // [asked]: what should stand there
  std::vector<int64_t> predictions = {};  // [asked]: their places in data::Targets::out
};

/// Without a seed everything is blank. With one, a number of tokens drawn evenly from 1 to all of them is left blank in
/// each target, every choice equally likely.   Ghazvininejad et al. 2019
BlankedTargets leave_blanks(const data::Targets& targets, int64_t slots, std::optional<uint64_t> seed);

}  // namespace heed::model
