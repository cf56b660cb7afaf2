// What a search sees step by step is what training sees at once, and nobody sees who else is in the batch.
#include "tests/model/ways.h"

namespace heed::model::test {
namespace {

class Steps : public testing::TestWithParam<Way> {};

TEST_P(Steps, EqualAllAtOnce) {
  const Made made(GetParam().options());
  const Batch batch(ragged());
  expect_near(by_steps(made.model, batch), at_once(made.model, batch), 1e-5);
}

TEST_P(Steps, DoNotDependOnBatchMates) {
  const Made made(GetParam().options());
  const Sentences all = ragged();
  const LogProbs together = at_once(made.model, Batch(all));
  size_t row = 0;
  for (size_t b = 0; b < all.size(); ++b) {
    SCOPED_TRACE("sentence " + std::to_string(b));
    const LogProbs alone = at_once(made.model, Batch(all.only(b)));
    const auto first = together.begin() + static_cast<int64_t>(row);
    expect_near(alone, LogProbs(first, first + static_cast<int64_t>(alone.size())), 1e-5);
    row += alone.size();
  }
  EXPECT_EQ(row, together.size());
}

/// A target sees its past alone: another end changes nothing before it.
TEST_P(Steps, DoNotLookAhead) {
  const Made made(GetParam().options());
  Sentences all = random_sentences({{5, 6}, {2, 6}});
  const LogProbs before = at_once(made.model, Batch(all));
  for (auto& target : all.targets) target.back() = target.back() == 3 ? 4 : 3;
  LogProbs after = at_once(made.model, Batch(all));
  for (const size_t last : {6u, 13u}) {  // the row that has the changed token as its input
    EXPECT_NE(after[last], before[last]);
    after[last] = before[last];
  }
  expect_near(after, before, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(, Steps, testing::ValuesIn(ways()), name_of_way);

}  // namespace
}  // namespace heed::model::test
