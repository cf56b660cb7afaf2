#include "heed/data/built_in_task.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "heed/data/reverse.h"
#include "tests/base/folder.h"

namespace heed::data {
namespace {

TEST(Reverse, IsTheReverse) {
  std::set<size_t> lengths;
  const Pairs pairs = reverse_pairs(5000, 1, {.min_length = 3, .max_length = 9});
  ASSERT_EQ(pairs.size(), 5000);
  for (size_t i = 0; i < pairs.source.size(); ++i) {
    const std::string& text = pairs.source[i];
    EXPECT_EQ(std::string(text.rbegin(), text.rend()), pairs.target[i]);
    lengths.insert(text.size());
  }
  EXPECT_EQ(lengths, (std::set<size_t>{3, 4, 5, 6, 7, 8, 9}));
}

TEST(Reverse, DigitsAlone) {
  for (const auto& text : reverse_pairs(1000, 1, {.letters = false}).source)
    EXPECT_EQ(text.find_first_not_of("0123456789"), std::string::npos);
}

TEST(Reverse, Mistakes) {
  expect_part(error_of([] { reverse_pairs(1, 1, {.min_length = 5, .max_length = 4}); }), "from 5 to 4");
  expect_part(error_of([] { reverse_pairs(1, 1, {.min_length = 0}); }), "must be at least 1");
  expect_part(error_of([] { reverse_pairs(1, 1, {.max_length = 2}); }), "too few different strings");
}

TEST(Tasks, EachByItsName) {
  EXPECT_EQ(built_in_tasks().size(), 4u);
  for (const BuiltInTask* task : built_in_tasks()) {
    EXPECT_EQ(&find_built_in_task(task->name), task);
    EXPECT_FALSE(task->description.empty());
    EXPECT_GT(task->examples().size(), 0);
    EXPECT_EQ(task->pairs(100, 3, Split::train).source, task->pairs(100, 3, Split::train).source);
    EXPECT_NE(task->pairs(100, 3, Split::train).source, task->pairs(100, 4, Split::train).source);
    std::map<std::string, Split> where;
    for (const Split split : {Split::train, Split::valid, Split::test})
      for (const auto& text : task->pairs(3000, 3, split).source) {
        const auto [found, is_new] = where.emplace(text, split);
        ASSERT_EQ(found->second, split) << text;
      }
  }
  expect_part(error_of([] { find_built_in_task("date"); }),
              "there is no task 'date'; did you mean 'dates'? There are: dates, reverse");
}

TEST(Split, SharesAndCuts) {
  std::map<Split, int> counts;
  for (int i = 0; i < 20'000; ++i) ++counts[split_of(std::to_string(i), "x")];
  EXPECT_NEAR(counts[Split::train], 18'000, 250);
  EXPECT_NEAR(counts[Split::valid], 1'000, 160);
  EXPECT_NEAR(counts[Split::test], 1'000, 160);
}

TEST(Split, NeverChanges) {
  // What was in the test of one version must not be in the training of the next.
  std::string found;
  for (int i = 0; i < 60; ++i) found += "rvt"[static_cast<int>(split_of(std::to_string(i), "x"))];
  EXPECT_EQ(found, "rrrrrrrrrrrrrrrrrrvrrrrvtrvrrrtrrrrrrrrrrrtrrrrtrrrrvrrrrrrr");
}

}  // namespace
}  // namespace heed::data
