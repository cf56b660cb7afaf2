// Heads side by side or stacked: the same numbers and the same gradients.
#include <gtest/gtest.h>

#include "tests/attend/cases.h"
#include "tests/attend/expect.h"

namespace heed::attend::test {
namespace {

std::vector<Case> with_heads() {
  std::vector<Case> cases;
  const auto add = [&](Case c) {
    c.options.heads = 4;
    c.key_lengths = {5, 5, 5};
    c.query_lengths = {3, 3, 3};
    // Shared heads make the keys narrower: queries 8 = 4 * 2, keys 4 = 2 * 2.
    if (c.options.kv_heads == 2) c.options.key_width = 4;
    if (refusals(c.options).empty()) cases.push_back(c);
  };
  for (const std::string& score : names_of(Part::score))
    if (score != "intra") add(variant(score, "stacked", [](Case& c) { c.options.query_width = 8; }));
  for (const std::string& normalise : names_of(Part::normalise)) add(entry_case(normalise));
  for (const std::string& region : names_of(Part::region)) add(entry_case(region));
  add(variant("scaled_dot", "grouped", [](Case& c) { c.options.kv_heads = 2; }));
  add(variant("additive", "grouped", [](Case& c) { c.options.query_width = 8, c.options.kv_heads = 2; }));
  add(variant("dot", "values", [](Case& c) { c.options.value_width = 12; }));
  add(variant("dot", "alibi", [](Case& c) { c.options.position = "alibi"; }));
  add(variant("dot", "relative", [](Case& c) { c.options.position = "relative"; }));
  add(variant("dot", "rotary", [](Case& c) { c.options.position = "rotary"; }));
  add(variant("scaled_dot", "rotary_grouped", [](Case& c) { c.options.position = "rotary", c.options.kv_heads = 2; }));
  add(variant("dot", "bias", [](Case& c) { c.bias = true; }));
  add(variant("dot", "learned_sink", [](Case& c) { c.options.region = "sinks", c.options.learned_sink = true; }));
  add(variant("projected", "bias", [](Case& c) { c.options.query_width = 8, c.bias = true; }));
  add(variant("synthesizer_random", "bias", [](Case& c) { c.bias = true; }));
  add(entry_case("forced_forward"));
  add(entry_case("guided"));
  return cases;
}

class Stacked : public testing::TestWithParam<Case> {};

TEST_P(Stacked, EqualsSideBySide) {
  const TapeOptions tape{.recording = true, .training = GetParam().options.normalise != "hard_sampled"};
  Library library(GetParam());
  const Outcome side_by_side = library.run(Run::at_once, tape);
  expect_same(library.run(Run::stacked, tape), side_by_side);
}
INSTANTIATE_TEST_SUITE_P(Heads, Stacked, testing::ValuesIn(with_heads()), name_of_case);

TEST(Stacked, IsTriedWithMost) { EXPECT_GE(with_heads().size(), 38u); }

}  // namespace
}  // namespace heed::attend::test
