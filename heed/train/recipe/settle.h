// Choosing the keys that a recipe leaves open.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/task/suggestion.h"
#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// Applies the suggestions for open keys, and returns those that were applied.
std::vector<task::Suggestion> settle(Recipe& recipe, std::span<const task::Suggestion> suggestions);

/// Whether the key begins with one of these.
bool is_among(std::string_view key, std::span<const std::string_view> beginnings);

/// Copies the values of `from`, where it has any, for open keys that begin with one of `beginnings` ("model.",
/// "train.warmup").
void settle_as(Recipe& recipe, const Recipe& from, std::span<const std::string_view> beginnings);

/// Whether the key defines a model and its tokens, so that it follows from trained weights.
bool is_of_the_model(std::string_view key);
/// Copies what follows from a precedent of the same task for open keys; from one of another task its encoder.
void settle_as(Recipe& recipe, const Precedent& precedent);

/// How fast a training run goes.
struct Pace {
  int64_t updates_per_epoch = 0;
  /// Updates that stop.minutes leave time for, from a few that were timed; 0: there is no such limit, or nothing was
  /// timed.
  int64_t updates_in_time = 0;
  int64_t validations = 20;  // that a training has time for, at most
};

/// The pace of a run that ends after `limit` seconds, if an update takes `update` seconds and a validation `validation`
/// seconds: validations get at most a quarter of the time.
Pace pace_within(double limit, double update, double validation);

/// Length, warm-up and validations of a training run, for the keys that are open. `goes_on`: it starts from trained
/// weights, which need less.
std::vector<task::Suggestion> suggest_length(const Recipe& recipe, const Pace& pace, bool goes_on);

/// Warnings about a training run of known length: it would end during its warm-up, or before its first validation. One
/// sentence each.
std::vector<std::string> length_warnings(const Recipe& recipe, const Pace& pace);

/// Updates until stop.steps or stop.epochs is reached; 0: neither is set.
int64_t updates_in_all(const Recipe& recipe, int64_t updates_per_epoch);

}  // namespace heed::recipe
