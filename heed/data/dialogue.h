// Dialogues: a file of turns, and what a model reads of them before it answers.
//
//   a turn per line; a line that is empty ends a dialogue. With a tab, what is before it says who speaks:
//     anna<TAB>where were you        otherwise two speakers take turns
//     ben<TAB>at the lake
//
// What is read before an answer: the last turns, each with a mark for who says it, the one who answers or another:
//     <you> where were you <me> at the lake <you> alone
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "heed/data/pairs.h"

namespace heed::data {

inline constexpr std::string_view kMe = "<me>", kYou = "<you>";

struct Turn {
  bool mine = false;  // of the one who answers
  std::string text = {};
};

/// The last `count` of the turns, as a model reads them.
std::string dialogue_context(std::span<const Turn> turns, int64_t count);

/// files.tsv as dialogues: for each turn but the first of a dialogue, up to files.turns before it, and the turn.
Pairs read_dialogues(const PairFiles& files, Report& report);

}  // namespace heed::data
