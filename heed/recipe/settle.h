// Keys that a recipe leaves open, decided.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/recipe/recipe.h"
#include "heed/task/suggestion.h"

namespace heed::recipe {

/// Takes the suggestions for keys that are open. Returns those.
std::vector<task::Suggestion> settle(Recipe& recipe, std::span<const task::Suggestion> suggestions);

/// The key begins with one of these.
bool is_among(std::string_view key, std::span<const std::string_view> beginnings);

/// Takes what `from` says for open keys that begin with one of `beginnings` ("model.", "train.warmup").
void settle_as(Recipe& recipe, const Recipe& from, std::span<const std::string_view> beginnings);

/// When a training of `updates_per_epoch` ends, warms up and validates, for what is open of that. `goes_on`: from
/// trained weights, which need less.
std::vector<task::Suggestion> suggest_length(const Recipe& recipe, int64_t updates_per_epoch, bool goes_on);

/// What a user should know before a training begins whose length is known: it would end inside its warm-up, or before
/// its first validation. A sentence each.
std::vector<std::string> length_warnings(const Recipe& recipe, int64_t updates_per_epoch);

/// Updates until stop.steps or stop.epochs ends it; 0: neither does.
int64_t updates_in_all(const Recipe& recipe, int64_t updates_per_epoch);

}  // namespace heed::recipe
