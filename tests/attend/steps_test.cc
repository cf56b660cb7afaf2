// Step by step, in chunks or all at once: the same numbers and the same gradients.
#include <gtest/gtest.h>

#include "tests/attend/cases.h"
#include "tests/attend/expect.h"

namespace heed::attend::test {
namespace {

/// What is drawn at random differs from call to call: compared as outside training.
TapeOptions tape_for(const Case& c) { return {.recording = true, .training = c.options.normalise != "hard_sampled"}; }

/// Learned queries and whole structures have no steps.
std::vector<Case> with_steps(const std::vector<Case>& cases) {
  std::vector<Case> some;
  for (const Case& c : cases)
    if (asks_with(c) != Asks::nothing) some.push_back(c);
  return some;
}

class Steps : public testing::TestWithParam<Case> {};

TEST_P(Steps, OneByOneEqualAllAtOnce) {
  Library library(GetParam());
  const Outcome at_once = library.run(Run::at_once, tape_for(GetParam()));
  expect_same(library.run(Run::step_by_step, tape_for(GetParam())), at_once);
}

TEST_P(Steps, ChunksEqualAllAtOnce) {
  Library library(GetParam());
  const Outcome at_once = library.run(Run::at_once, tape_for(GetParam()));
  expect_same(library.run(Run::in_chunks, tape_for(GetParam())), at_once);
}

INSTANTIATE_TEST_SUITE_P(Entry, Steps, testing::ValuesIn(with_steps(entry_cases())), name_of_case);
INSTANTIATE_TEST_SUITE_P(Variant, Steps, testing::ValuesIn(with_steps(variant_cases())), name_of_case);
INSTANTIATE_TEST_SUITE_P(Crossed, Steps, testing::ValuesIn(with_steps(crossed_cases())), name_of_case);

/// Self-attention that looks back, so that a memory can grow under it.
std::vector<Case> looking_back() {
  std::vector<Case> cases;
  const auto add = [&](Case c, const std::string& what) {
    c.name += "_" + what;
    c.key_lengths = c.query_lengths = {6, 6, 6};
    c.mask = c.lengths = false;
    if (refusals(c.options).empty()) cases.push_back(c);
  };
  for (const std::string region : {"causal", "sliding_window", "sliding_window+sinks", "causal+local_m"})
    for (const std::string& score : names_of(Part::score)) {
      Case c = words_case({.score = score});
      c.options.input = "self_attention";
      c.options.region = score == "intra" && region != "causal" ? "causal+" + region : region;
      if (region == "sliding_window+sinks") c.options.sinks = 1;
      std::string what = region;
      std::replace(what.begin(), what.end(), '+', '_');
      add(c, what);
    }
  for (const std::string& normalise : names_of(Part::normalise)) {
    Case c = words_case({.normalise = normalise});
    c.options.input = "self_attention";
    c.options.region = "causal";
    add(c, "normaliser");
  }
  for (const std::string position : {"alibi", "relative", "rotary"}) {
    Case c = words_case({});
    c.options.input = "self_attention";
    c.options.region = "causal";
    c.options.heads = 2;
    c.options.position = position;
    add(c, position);
  }
  const auto causal = [](Case& c) { c.options.input = "self_attention", c.options.region = "causal"; };
  add(variant("multi_head", "causal", causal), "growing");
  add(variant("multi_head", "grouped", [&](Case& c) { causal(c), c.options.kv_heads = 2, c.options.value_width = 3; }),
      "growing");
  const auto rotary = [&](Case& c) { causal(c), c.options.position = "rotary"; };
  add(variant("multi_head", "rotary", rotary), "growing");
  add(variant("multi_head", "rotary_grouped", [&](Case& c) { rotary(c), c.options.kv_heads = 2; }), "growing");
  add(variant("self_attention", "causal", causal), "growing");
  add(entry_case("intra"), "growing");
  add(entry_case("key_value"), "growing");
  add(variant("key_value", "predict", [](Case& c) { c.options.predict = 1; }), "growing");
  return cases;
}

class Growing : public testing::TestWithParam<Case> {};

TEST_P(Growing, MemoryEqualsWholeMemory) {
  Library library(GetParam());
  const Outcome at_once = library.run(Run::at_once, tape_for(GetParam()));
  expect_same(library.run(Run::growing, tape_for(GetParam())), at_once);
}

INSTANTIATE_TEST_SUITE_P(Memory, Growing, testing::ValuesIn(looking_back()), name_of_case);

TEST(Growing, IsTriedWithEveryScore) { EXPECT_GE(looking_back().size(), 4u * names_of(Part::score).size()); }

}  // namespace
}  // namespace heed::attend::test
