#include "heed/compare/statistics.h"

#include <cmath>

#include "heed/compare/alignment.h"
#include "tests/compare/small_plan.h"

namespace heed::compare::test {
namespace {

TEST(Statistics, MeanAndSpread) {
  EXPECT_FALSE(mean_of({}));
  const double one[] = {3.0}, three[] = {2.0, 4.0, 9.0};
  EXPECT_EQ(mean_of(one)->mean, 3.0);
  EXPECT_FALSE(mean_of(one)->spread);
  EXPECT_EQ(mean_of(three)->mean, 5.0);
  EXPECT_DOUBLE_EQ(*mean_of(three)->spread, std::sqrt(13.0));  // (9 + 1 + 16) / 2
  EXPECT_EQ(mean_of(three)->count, 3);
}

/// Quantiles of Student's distribution as tables print them, and two others by numerical integration of its density.
TEST(Statistics, StudentsDistribution) {
  EXPECT_NEAR(student_two_sided(12.706204736174694, 1), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(4.302652729749464, 2), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(3.182446305283710, 3), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(2.776445105197793, 4), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(2.262157162798205, 9), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(-2.042272456301238, 30), 0.05, 1e-13);
  EXPECT_NEAR(student_two_sided(2.0, 1), 0.2951672353008663, 1e-13);
  EXPECT_NEAR(student_two_sided(0.7, 5), 0.515148948314817, 1e-13);
  EXPECT_EQ(student_two_sided(0.0, 7), 1.0);
  EXPECT_EQ(student_two_sided(INFINITY, 3), 0.0);
}

TEST(Statistics, PairedTTest) {
  // Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3), which two degrees of freedom give 1 - t / sqrt(2 + t^2).
  const double a[] = {11.0, 22.0, 33.0}, b[] = {10.0, 20.0, 30.0};
  EXPECT_NEAR(*paired_t_test(a, b), 1.0 - std::sqrt(12.0 / 14.0), 1e-14);
  EXPECT_NEAR(*paired_t_test(b, a), *paired_t_test(a, b), 1e-15);
  EXPECT_EQ(*paired_t_test(a, a), 1.0);
  const double lower[] = {10.0, 21.0, 32.0};
  EXPECT_EQ(*paired_t_test(a, lower), 0.0);
  EXPECT_FALSE(paired_t_test(std::span(a, 1), std::span(b, 1)));
}

TEST(Statistics, Holm) {
  const double p[] = {0.04, 0.01, 0.03, 0.5};
  const std::vector<double> adjusted = holm(p);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.04);  // 4 x 0.01
  EXPECT_DOUBLE_EQ(adjusted[2], 0.09);  // 3 x 0.03
  EXPECT_DOUBLE_EQ(adjusted[0], 0.09);  // 2 x 0.04 is less than the one before
  EXPECT_DOUBLE_EQ(adjusted[3], 0.5);
  EXPECT_TRUE(holm({}).empty());
  const double large[] = {0.9, 0.8};
  EXPECT_EQ(holm(large), (std::vector<double>{1.0, 1.0}));
}

TEST(Alignment, EntropyInBits) {
  AlignmentFacts facts;
  EXPECT_FALSE(facts.entropy());
  EXPECT_FALSE(facts.monotonicity());
  facts.add({{1, 0, 0, 0}, {0.5f, 0.5f, 0, 0}, {0.25f, 0.25f, 0.25f, 0.25f}});
  EXPECT_NEAR(*facts.entropy(), (0.0 + 1.0 + 2.0) / 3, 1e-12);
}

TEST(Alignment, WeightsThatDoNotSumToOne) {
  AlignmentFacts facts;
  facts.add({{3, 3, 0}, {-1, 1, 0}, {0, 0, 0}, {NAN, 1, 1}});
  EXPECT_NEAR(*facts.entropy(), 1.0, 1e-12);
}

TEST(Alignment, StepsThatDoNotGoBack) {
  AlignmentFacts facts;
  facts.add({{0, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}});  // stays, forward, back
  facts.add({{0, 0, 1}});                                   // the next output begins anywhere
  facts.add({{1, 0, 0}, {0, 0, 1}});                        // forward
  facts.add({{0, 0, 1}, {1, 0, 0}}, /*in_order=*/false);    // does not count
  EXPECT_DOUBLE_EQ(*facts.monotonicity(), 0.75);
}

}  // namespace
}  // namespace heed::compare::test
