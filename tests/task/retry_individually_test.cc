#include "heed/task/retry_individually.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "heed/base/memory.h"

namespace heed::task {
namespace {

struct Ran {
  std::vector<std::vector<int>> calls;
  std::map<int, std::string> errors;
};

/// Runs items 1, 2, 3 with `run`.
template <class Run>
Ran ran(const Run& run) {
  const std::vector<int> items = {1, 2, 3};
  Ran result;
  retry_individually(
      std::span<const int>(items),
      [&](std::span<const int> some) {
        result.calls.emplace_back(some.begin(), some.end());
        run(some);
      },
      [&](int item, const std::string& error) { result.errors[item] = error; });
  return result;
}

TEST(TogetherOrEach, OneErrorIsThatOfOneItem) {
  const Ran all = ran([](std::span<const int> some) {
    for (const int item : some) expect(item != 2, "item {}", item);
  });
  EXPECT_EQ(all.calls, (std::vector<std::vector<int>>{{1, 2, 3}, {1}, {2}, {3}}));
  EXPECT_EQ(all.errors, (std::map<int, std::string>{{2, "item 2"}}));
}

TEST(TogetherOrEach, TooMuchMemoryTogetherIsNoError) {
  const Ran all = ran([](std::span<const int> some) {
    if (some.size() > 1) throw std::bad_alloc();
  });
  EXPECT_EQ(all.calls.size(), 4u);
  EXPECT_TRUE(all.errors.empty());
}

/// An empty answer and success would be taken for what the model says.
TEST(TogetherOrEach, TooMuchMemoryForOneIsNoAnswer) {
  EXPECT_THROW(ran([](std::span<const int> some) {
                 for (const int item : some)
                   if (item == 2) throw NotEnoughMemory("not enough memory: item 2");
               }),
               NotEnoughMemory);
}

}  // namespace
}  // namespace heed::task
