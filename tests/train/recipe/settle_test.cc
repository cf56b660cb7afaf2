#include "heed/train/recipe/settle.h"

#include <gtest/gtest.h>

#include <map>

namespace heed::recipe::test {
namespace {

const std::string kData = "[data]\ntask = \"reverse\"\n";

Recipe parsed(const std::vector<std::string>& settings = {}) { return parse(kData, "r.toml", settings); }

std::map<std::string, std::string> length_of(const Recipe& r, int64_t per_epoch, bool goes_on = false) {
  std::map<std::string, std::string> all;
  for (const task::Suggestion& each : suggest_length(r, {.updates_per_epoch = per_epoch}, goes_on))
    all[each.key] = each.value;
  return all;
}

TEST(Settle, OnlyWhatIsOpen) {
  Recipe r = parsed({"model.width=64"});
  EXPECT_TRUE(is_open(r, "train.warmup"));
  EXPECT_FALSE(is_open(r, "model.width"));
  const std::vector<task::Suggestion> both = {{"model.width", "8", ""}, {"train.warmup", "7", "why"}};
  const auto taken = settle(r, both);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].key, "train.warmup");
  EXPECT_EQ(r.model.width, 64);
  EXPECT_EQ(r.train.schedule.warmup, 7);
  EXPECT_FALSE(is_open(r, "train.warmup"));
  EXPECT_TRUE(settle(r, both).empty());
}

TEST(Settle, AMetricOfOutputsNeedsOutputs) {
  Recipe r = parsed({"validate.decode=0"});
  const std::vector<task::Suggestion> metric = {{"validate.metric", "exact", ""}};
  EXPECT_TRUE(settle(r, metric).empty());
  EXPECT_EQ(r.validate.metric, "loss");
}

TEST(Settle, AsAnotherRecipe) {
  Recipe r = parsed({"model.dropout=0.5"});
  const Recipe other = parsed({"model.width=32", "model.dropout=0.25", "train.clip=3", "data.source_tokens=words"});
  constexpr std::string_view kModel[] = {"model.", "data.source_tokens"};
  settle_as(r, other, kModel);
  EXPECT_EQ(r.model.width, 32);
  EXPECT_EQ(r.model.dropout, 0.5f);
  EXPECT_EQ(r.train.clip, 1.0f);
  EXPECT_EQ(r.data.source.kind, "words");
}

// The short text says what was decided, and gives the same recipe again.
TEST(Settle, TheShortText) {
  Recipe r = parsed({"model.width=64"});
  const std::vector<task::Suggestion> one = {{"train.warmup", "7", ""}};
  settle(r, one);
  EXPECT_EQ(short_text_of(r), "[data]\ntask = \"reverse\"\n\n[model]\nwidth = 64\n\n[train]\nwarmup = 7\n");
  EXPECT_EQ(text_of(parse(short_text_of(r), "again")), text_of(r));
}

TEST(Settle, ARecipeThatWasReadBackIsWhole) {
  EXPECT_TRUE(parse(text_of(parsed({"stop.steps=9"})), "again").open.empty());
}

TEST(Length, FollowsFromTheUpdatesOfAnEpoch) {
  auto small = length_of(parsed(), 50);
  EXPECT_EQ(small["stop.epochs"], "30");
  EXPECT_EQ(small["train.warmup"], "75");
  EXPECT_EQ(small["train.schedule"], "cosine");
  EXPECT_EQ(small["validate.every"], "75");
  EXPECT_EQ(length_of(parsed(), 100'000)["stop.epochs"], "5");
  EXPECT_EQ(length_of(parsed(), 100'000)["train.warmup"], "1000");
  EXPECT_EQ(length_of(parsed(), 1)["stop.epochs"], "200");
  EXPECT_EQ(length_of(parsed(), 5, true)["stop.epochs"], "80");
}

TEST(Length, WhatWasSaidCounts) {
  auto steps = length_of(parsed({"stop.steps=40"}), 50);
  EXPECT_EQ(steps.count("stop.epochs"), 0u);
  EXPECT_EQ(steps["train.warmup"], "2");
  EXPECT_EQ(steps["validate.every"], "20");
  // Nobody knows where a training ends that ends by time: no cosine, and no epochs.
  auto minutes = length_of(parsed({"stop.minutes=5"}), 50);
  EXPECT_EQ(minutes.count("stop.epochs") + minutes.count("train.schedule"), 0u);
  EXPECT_EQ(minutes["train.warmup"], "100");
  EXPECT_EQ(length_of(parsed({"stop.minutes=5", "train.schedule=cosine"}), 50)["stop.epochs"], "30");
  EXPECT_TRUE(length_of(parse(text_of(parsed({"stop.steps=9"})), "whole"), 50).empty());
}

TEST(Length, WarningsBeforeItBegins) {
  EXPECT_TRUE(
      length_warnings(parsed({"stop.steps=40", "train.warmup=2", "validate.every=20"}), {.updates_per_epoch = 50})
          .empty());
  const auto both =
      length_warnings(parsed({"stop.epochs=2", "train.warmup=100", "validate.every=101"}), {.updates_per_epoch = 50});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(both[0].find("ends after 100 updates, before its warm-up of 100"), std::string::npos) << both[0];
  EXPECT_NE(both[1].find("before the first validation (validate.every = 101)"), std::string::npos) << both[1];
  const Recipe timed = parsed({"stop.minutes=2", "train.warmup=492", "validate.every=246"});
  EXPECT_TRUE(length_warnings(timed, {.updates_per_epoch = 50}).empty());  // nothing was timed
  const auto by_time = length_warnings(timed, {.updates_per_epoch = 246, .updates_in_time = 114});
  ASSERT_EQ(by_time.size(), 2u);
  EXPECT_NE(by_time[0].find("about 114 updates (stop.minutes = 2"), std::string::npos) << by_time[0];
  EXPECT_NE(by_time[0].find("before its warm-up of 492"), std::string::npos) << by_time[0];
}

// The end, warm-up, schedule and validations of a limit of time follow from the updates that it leaves time for.
TEST(Length, FollowsFromTheTime) {
  const auto of = [](const std::vector<std::string>& settings, int64_t in_time) {
    std::map<std::string, std::string> all;
    const Recipe r = parsed(settings);
    for (const task::Suggestion& each :
         suggest_length(r, {.updates_per_epoch = 246, .updates_in_time = in_time}, false))
      all[each.key] = each.value;
    return all;
  };
  auto chosen = of({"stop.minutes=2"}, 114);
  EXPECT_EQ(chosen["stop.steps"], "114");
  EXPECT_EQ(chosen["train.warmup"], "5");
  EXPECT_EQ(chosen["train.schedule"], "cosine");
  EXPECT_EQ(chosen["validate.every"], "20");
  EXPECT_EQ(chosen.count("stop.epochs"), 0u);
  const std::vector<std::string> both = {"stop.minutes=2", "stop.steps=60"};
  EXPECT_EQ(of(both, 114)["train.warmup"], "3");
  EXPECT_EQ(of(both, 40)["train.warmup"], "2");  // the time ends first
  EXPECT_EQ(of(both, 40).count("stop.steps"), 0u);
}

TEST(Length, ValidationsGetAQuarterOfTheTimeAtMost) {
  const Pace quick = pace_within(100, 0.1, 0.05);
  EXPECT_EQ(quick.validations, 20);
  EXPECT_EQ(quick.updates_in_time, 990);
  const Pace slow = pace_within(100, 1, 10);
  EXPECT_EQ(slow.validations, 2);
  EXPECT_EQ(slow.updates_in_time, 80);
  EXPECT_EQ(pace_within(1, 10, 100).updates_in_time, 1);
}

}  // namespace
}  // namespace heed::recipe::test
