// long: 80 s
// Every wiring of a Transformer's attention to the source learns to read dates.
#include <string>

#include "heed/data/dates.h"
#include "tests/learn/learner.h"

namespace heed::train::test {
namespace {

data::Pairs dates(int64_t count, data::Split split) { return data::date_pairs(count, 1, {.split = split}); }

class Wirings : public testing::TestWithParam<std::string> {};

TEST_P(Wirings, LearnDates) {
  Learner learner(
      {.kind = "transformer",
       .score = "scaled_dot",
       .steps = 1200,
       .examples = 10000,
       .more = {"model.wiring=" + GetParam(), "model.width=64", "model.hidden=128", "model.encoder_layers=2",
                "model.decoder_layers=2", "train.batch_tokens=1024", "train.learning_rate=0.003"},
       .pairs = dates});
  learner.train();
  const Evaluation e = learner.test(14);
  EXPECT_GE(e.exact.rate(), 0.7) << "loss " << e.nll;
}

INSTANTIATE_TEST_SUITE_P(, Wirings, testing::Values("last", "same_block", "mix"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heed::train::test
