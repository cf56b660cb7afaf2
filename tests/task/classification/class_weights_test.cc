#include "heed/task/classification/class_weights.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::task {
namespace {

struct ClassWeightsTest : testing::Test {
  std::shared_ptr<const text::Tokeniser> labels =
      text::Tokeniser::train(std::vector<std::string_view>{"ham", "ham", "ham", "spam"}, {.kind = "lines"});
  std::vector<int64_t> counts = {3, 1};

  std::vector<float> of(const char* how) const { return class_weights(how, counts, *labels); }
};

TEST_F(ClassWeightsTest, ByNameAndByFrequency) {
  EXPECT_EQ(of("none"), (std::vector<float>{1, 1}));
  // As sklearn.utils.class_weight.compute_class_weight("balanced"): n / (labels * count)
  EXPECT_EQ(of("balanced"), (std::vector<float>{4.0f / 6, 4.0f / 2}));
  EXPECT_EQ(of("spam = 5"), (std::vector<float>{1, 5}));
  EXPECT_EQ(of("spam=5,ham=0.5"), (std::vector<float>{0.5f, 5}));
}

TEST_F(ClassWeightsTest, Mistakes) {
  expect_part(error_of([&] { of("spams=2"); }), "no label 'spams'; did you mean 'spam'?");
  for (const char* wrong : {"", "=3", "spam=", "spam=x", "spam=-1", "spam=1e9", "spam=nan", "ham=1,spam"})
    EXPECT_NE(class_weights_problem(wrong), "") << wrong;
  for (const char* right : {"none", "balanced", "spam=1", "a=b=2"})
    EXPECT_EQ(class_weights_problem(right), "") << right;
}

}  // namespace
}  // namespace heed::task
