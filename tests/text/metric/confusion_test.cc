#include "heed/text/metric/confusion.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::metric {
namespace {

TEST(Confusion, RowsAreRight) {
  const Texts given = {"a", "b", " a ", "", "c"};
  const std::vector<Texts> right = {{"a"}, {"a"}, {"a"}, {"b"}, {"b", "c"}};
  const Confusion c = confusion(given, right);
  EXPECT_EQ(c.labels, (std::vector<std::string>{"", "a", "b", "c"}));
  EXPECT_EQ(c.counts, (std::vector<std::vector<int64_t>>{{0, 0, 0, 0}, {0, 2, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}}));
  EXPECT_EQ(c.texts(1), 3);
  EXPECT_EQ(c.wrong(1), 1);
  EXPECT_EQ(c.wrong(2), 1);
  EXPECT_TRUE(confusion({}, {}).labels.empty());
}

}  // namespace
}  // namespace heed::metric
