#include "heed/text/metric/calibration.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::metric {
namespace {

TEST(Calibration, ByHand) {
  // (13/15, 14/15]: 0.9 twice, one right: |0.5 - 0.9|. (8/15, 9/15]: 0.55, right: |1 - 0.55|. (14/15, 1]: 1, right: 0.
  const Calibration c = calibration(std::vector{0.9, 0.9, 0.55, 1.0}, {true, false, true, true});
  EXPECT_NEAR(c.error, (2 * 0.4 + 0.45 + 0) / 4, 1e-12);
  EXPECT_EQ(c.bins.size(), 15u);
  EXPECT_EQ(c.bins[13].answers, 2);
  EXPECT_NEAR(c.bins[13].probability, 0.9, 1e-12);
  EXPECT_EQ(c.bins[13].right, 0.5);
  EXPECT_EQ(c.bins[14].answers, 1);
}

TEST(Calibration, BordersBelongBelow) {
  const Calibration c = calibration(std::vector{0.5, 0.50001, 0.0}, {true, true, false}, 2);
  EXPECT_EQ(c.bins[0].answers, 2);
  EXPECT_EQ(c.bins[1].answers, 1);
}

TEST(Calibration, ErrorsInBothDirectionsDoNotCancelAcrossRanges) {
  const Calibration c = calibration(std::vector{0.2, 0.8}, {true, false}, 2);
  EXPECT_NEAR(c.error, 0.8, 1e-12);
  EXPECT_NEAR(calibration(std::vector{0.2, 0.8}, {true, false}, 1).error, 0, 1e-12);
}

TEST(Calibration, Mistakes) {
  EXPECT_EQ(calibration({}, {}).error, 0);
  expect_part(error_of([] { calibration(std::vector{0.5}, {}); }), "1 probabilities, but 0 answers");
  expect_part(error_of([] { calibration(std::vector{1.5}, {true}); }), "probability 1 is 1.5");
  expect_part(error_of([] { calibration({}, {}, 0); }), "at least one range");
}

}  // namespace
}  // namespace heed::metric
