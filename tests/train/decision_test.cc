#include "heed/train/decision.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace heed::train::test {
namespace {

/// "update", "validate", "save" or "end", with the ending.
std::string said(const RunLimits& limits, const RunFacts& facts) {
  const Decision next = decide(limits, facts);
  EXPECT_FALSE(next.validate && next.save);
  constexpr const char* kEndings[] = {"steps", "epochs", "minutes", "patience", "stopped"};
  const std::string action = next.validate ? "validate" : next.save ? "save" : next.ending ? "end" : "update";
  return action + (next.ending ? std::string(" ") + kEndings[static_cast<int>(*next.ending)] : "");
}

const RunLimits kLimits = {
    .stop = {.steps = 20, .epochs = 3, .minutes = 2, .patience = 4}, .validate_every = 5, .checkpoint_minutes = 1};

TEST(Decision, UpdatesUntilSomethingIsDue) {
  EXPECT_EQ(said(kLimits, {}), "update");
  EXPECT_EQ(said(kLimits, {.step = 4}), "update");
  EXPECT_EQ(said(kLimits, {.step = 5}), "validate");
  EXPECT_EQ(said(kLimits, {.step = 5, .validated_step = 5, .saved_step = 5}), "update");
  EXPECT_EQ(said(kLimits, {.step = 5, .first_step = 5, .saved_step = 5}), "update") << "it was due before";
  EXPECT_EQ(said(kLimits, {.step = 6, .seconds_unsaved = 59}), "update");
  EXPECT_EQ(said(kLimits, {.step = 6, .seconds_unsaved = 60}), "save");
  EXPECT_EQ(said(kLimits, {.step = 6, .seconds_unsaved = 60, .saved_step = 6}), "update");
  EXPECT_EQ(said(kLimits, {.step = 6, .seconds_unsaved = 60, .failed_saves = 1}), "update") << "once per update";
  EXPECT_EQ(said({.validate_every = 5, .checkpoint_minutes = 0}, {.step = 6, .seconds_unsaved = 1e9}), "update");
}

TEST(Decision, EndsAtTheFirstLimit) {
  EXPECT_EQ(said(kLimits, {.step = 20, .validated_step = 20, .saved_step = 20}), "end steps");
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .validated_step = 6, .saved_step = 6}), "end epochs");
  EXPECT_EQ(said(kLimits, {.step = 6, .seconds = 120, .validated_step = 6, .saved_step = 6}), "end minutes");
  EXPECT_EQ(said(kLimits, {.step = 6, .waited = 4, .validated_step = 6, .saved_step = 6}), "end patience");
  EXPECT_EQ(said(kLimits, {.step = 6, .saved_step = 6, .stop_asked = true}), "end stopped");
  const RunLimits none = {.validate_every = 5, .checkpoint_minutes = 0};
  EXPECT_EQ(said(none, {.step = 1'000'001, .epoch = 99, .seconds = 1e9, .waited = 99}), "update");
}

TEST(Decision, TheLastUpdateIsValidatedAndSaved) {
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3}), "validate epochs");
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .seconds_unsaved = 60}), "save epochs")
      << "a validation may take long";
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .seconds_unsaved = 60, .saved_step = 6}), "validate epochs");
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .validated_step = 6}), "save epochs");
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .validated_step = 6, .failed_saves = 1}), "save epochs") << "again";
  EXPECT_EQ(said(kLimits, {.step = 6, .epoch = 3, .validated_step = 6, .failed_saves = 2}), "end epochs");
  // Who asks to stop waits for no validation but one that is due.
  EXPECT_EQ(said(kLimits, {.step = 6, .stop_asked = true}), "save stopped");
  EXPECT_EQ(said(kLimits, {.step = 5, .stop_asked = true}), "validate stopped");
}

TEST(Decision, AnEndingStays) {
  EXPECT_EQ(
      said(kLimits, {.step = 20, .validated_step = 20, .saved_step = 20, .stop_asked = true, .ending = Ending::steps}),
      "end steps");
  EXPECT_EQ(said(kLimits, {.step = 6, .stop_asked = true, .ending = Ending::epochs}), "validate epochs");
}

TEST(Decision, WhatIsNotFiniteIsSkipped) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kMuch = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reason_to_skip(1.0, 2.0), "");
  for (const double bad : {kNan, kMuch, -kMuch}) {
    EXPECT_EQ(reason_to_skip(bad, 2.0), "the loss is not finite");
    EXPECT_EQ(reason_to_skip(1.0, bad), "the gradient is not finite");
    EXPECT_EQ(reason_to_skip(bad, bad), "the gradient is not finite");
  }
}

}  // namespace
}  // namespace heed::train::test
