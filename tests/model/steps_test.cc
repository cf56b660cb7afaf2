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

/// The memory of each source token.
LogProbs encoded(const Seq2Seq& model, const Batch& batch) {
  Tape tape(kQuiet);
  const Tensor memory = model.encode(tape, batch.sources).memory.rows;
  LogProbs rows;
  for (int64_t r = 0; r < memory.rows(); ++r) rows.emplace_back(memory.row(r), memory.row(r) + memory.cols());
  return rows;
}

/// To the last bit: who translates a sentence with others gets what it gets alone. Wide enough that products go through
/// blocks of all kinds.
TEST_P(Steps, DoNotDependOnBatchMates) {
  Options options = GetParam().options();
  options.width = 64;
  options.hidden = 96;
  const Made made(options);
  const Sentences all = random_sentences({{3, 4}, {7, 1}, {1, 6}, {5, 0}, {8, 8}, {2, 7}, {6, 5}});
  for (const auto& see : {encoded, at_once, by_steps}) {
    const LogProbs together = see(made.model, Batch(all));
    size_t row = 0;
    for (size_t b = 0; b < all.size(); ++b) {
      SCOPED_TRACE("sentence " + std::to_string(b));
      const LogProbs alone = see(made.model, Batch(all.only(b)));
      const auto first = together.begin() + static_cast<int64_t>(row);
      ASSERT_EQ(alone, LogProbs(first, first + static_cast<int64_t>(alone.size()))) << (see == encoded   ? "encoded"
                                                                                        : see == at_once ? "at once"
                                                                                                         : "by steps");
      row += alone.size();
    }
    EXPECT_EQ(row, together.size());
  }
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
