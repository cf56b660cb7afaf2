// A model that writes all positions at once: its loss against a plain computation, its gradients, what it sees.
#include "heed/base/error.h"
#include "heed/model/blanks.h"
#include "tests/model/parallel.h"
#include "tests/model/slopes.h"
#include "tests/threads.h"

namespace heed::model::test {
namespace {

class Parallel : public testing::TestWithParam<ParallelWay> {
 protected:
  Parallel() : made_(GetParam().options()) {}
  const ParallelModel& model() const { return made_.model; }

  MadeParallel made_;
  const Sentences sentences_ = ragged();
  const Batch batch_{sentences_};
};

INSTANTIATE_TEST_SUITE_P(, Parallel, testing::ValuesIn(parallel_ways()), name_of_parallel_way);

TEST_P(Parallel, GradientsAreTheSlopesOfTheLoss) {
  Tape tape;
  tape.backward(model().loss(tape, batch_, {}).loss);
  expect_slopes(made_.parameters, [&] {
    Tape quiet({.recording = false, .training = true});
    return model().loss(quiet, batch_, {}).negative_log_likelihood;
  });
}

/// log p(n) by the formula, from the memory and the weights.
std::vector<double> plain_lengths(const MadeParallel& made, const std::vector<int32_t>& source) {
  Tape tape(kQuiet);
  const OffTapeMatrix memory = made.model.read(tape, data::Sources::of(source)).memory;
  const int64_t width = memory.cols(), m = memory.rows(), longest = made.model.options().max_length;
  std::vector<double> mean(static_cast<size_t>(width), 0.0);
  for (int64_t r = 0; r < m; ++r)
    for (int64_t c = 0; c < width; ++c) mean[static_cast<size_t>(c)] += memory.row(r)[c] / static_cast<double>(m);
  const auto term = [&](const char* name, int64_t row) {
    const auto& weight = made.parameters.find(std::string("length.") + name + ".weight")->value;
    double sum = made.parameters.find(std::string("length.") + name + ".bias")->value[static_cast<size_t>(row)];
    for (int64_t c = 0; c < width; ++c)
      sum += mean[static_cast<size_t>(c)] * weight[static_cast<size_t>(row * width + c)];
    return sum;
  };
  std::vector<double> all;
  double sum = 0.0;
  for (int64_t n = 0; n < longest; ++n) {
    all.push_back(term("absolute", n) + term("relative", n - m + longest - 1));
    sum += std::exp(all.back());
  }
  for (double& value : all) value -= std::log(sum);
  return all;
}

TEST_P(Parallel, LossIsThatOfEachTokenAndTheLength) {
  Tape tape(kQuiet);
  const OutputLoss loss = model().loss(tape, batch_, {});
  ASSERT_EQ(loss.row_nll.size(), static_cast<size_t>(batch_.rows()));
  EXPECT_EQ(loss.rows, batch_.rows());
  const int64_t slots = model().slots();
  double all = 0.0;
  for (size_t b = 0; b < sentences_.size(); ++b) {
    const auto& target = sentences_.targets[b];
    const std::vector<int32_t> blank(slots > 0 ? static_cast<size_t>(slots) : target.size(), kBlank);
    const LogProbs right = one_draft(model(), sentences_.sources[b], blank);
    const auto first = static_cast<size_t>(batch_.targets.offsets[b]);
    std::vector<double> nll;
    for (size_t i = 0; i < target.size(); ++i) nll.push_back(-right[i][static_cast<size_t>(target[i])]);
    nll.push_back(slots > 0 ? -right[target.size()][kEnd]
                            : -plain_lengths(made_, sentences_.sources[b])[target.size()]);
    for (size_t i = 0; i < nll.size(); ++i) {
      EXPECT_NEAR(loss.row_nll[first + i], nll[i], 1e-5) << "sentence " << b << ", token " << i;
      all += nll[i];
    }
  }
  EXPECT_NEAR(loss.negative_log_likelihood, all, 1e-4);
  EXPECT_NEAR(loss.loss.item(), all, 1e-4);
}

TEST_P(Parallel, TrainingAsksForTheBlankOnesGivenTheOthers) {
  const int64_t slots = model().slots();
  const data::Targets& target = batch_.targets;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    Tape tape({.recording = false, .training = true, .seed = seed});
    const OutputLoss loss = model().loss(tape, batch_, {});
    Tape same({.recording = false, .training = true, .seed = seed});
    const BlankedTargets blanked = leave_blanks(target, slots, same.next_seed());
    double tokens = 0.0, lengths = 0.0;
    size_t next = 0;
    for (size_t b = 0; b < sentences_.size(); ++b) {
      const std::vector<int32_t> draft(blanked.tokens.begin() + blanked.offsets[b],
                                       blanked.tokens.begin() + blanked.offsets[b + 1]);
      const LogProbs right = one_draft(model(), sentences_.sources[b], draft);
      for (; next < blanked.asked.size() && blanked.asked[next] < blanked.offsets[b + 1]; ++next) {
        const auto at = static_cast<size_t>(blanked.asked[next] - blanked.offsets[b]);
        EXPECT_EQ(draft[at], kBlank);
        EXPECT_EQ(blanked.answers[next], batch_.targets.out[static_cast<size_t>(blanked.predictions[next])]);
        tokens -= right[at][static_cast<size_t>(blanked.answers[next])];
      }
      if (slots == 0) lengths -= plain_lengths(made_, sentences_.sources[b])[sentences_.targets[b].size()];
    }
    const auto all = static_cast<double>(slots > 0 ? batch_.rows() : batch_.rows() - std::ssize(sentences_.sources));
    const double right = tokens * all / static_cast<double>(blanked.asked.size()) + lengths;
    EXPECT_NEAR(loss.loss.item(), right, 1e-4 * std::abs(right));
    EXPECT_NEAR(loss.negative_log_likelihood, right, 1e-4 * std::abs(right));
  }
}

TEST_P(Parallel, SentencesDoNotDependOnBatchMates) {
  Tape tape(kQuiet), other(kQuiet);
  const OutputLoss together = model().loss(tape, batch_, {});
  for (size_t b = 0; b < sentences_.size(); ++b) {
    other.reset();
    const Batch alone(sentences_.only(b));
    const OutputLoss loss = model().loss(other, alone, {});
    for (size_t i = 0; i < loss.row_nll.size(); ++i)
      EXPECT_NEAR(loss.row_nll[i], together.row_nll[static_cast<size_t>(batch_.targets.offsets[b]) + i], 1e-5);
  }
}

TEST_P(Parallel, ThreadsDoNotChangeABit) {
  const auto bits = [&](int threads) {
    const heed::test::Threads some(threads);
    Tape tape({.recording = false, .training = true});
    const OutputLoss loss = model().loss(tape, batch_, {});
    return std::vector<float>(loss.row_nll.begin(), loss.row_nll.end());
  };
  EXPECT_EQ(bits(1), bits(3));
}

TEST(ParallelModel, EveryPositionSeesAllOthers) {
  const MadeParallel made(ParallelWay{"plain"}.options());
  const std::vector<int32_t> source = {4, 5, 6};
  const LogProbs one = one_draft(made.model, source, {kBlank, 7, kBlank, 8});
  const LogProbs other = one_draft(made.model, source, {kBlank, 7, kBlank, 9});
  for (size_t at : {0u, 1u, 2u}) EXPECT_GT(std::abs(one[at][5] - other[at][5]), 1e-4) << at;
}

TEST(ParallelModel, BlanksAreToldApartByTheirPositions) {
  for (const char* positions : {"sinusoidal", "learned", "rotary", "alibi", "none"}) {
    Options o = ParallelWay{"plain"}.options();
    o.positions = positions;
    const MadeParallel made(o);
    const LogProbs all = one_draft(made.model, {4, 5, 6}, {kBlank, kBlank, kBlank});
    EXPECT_GT(std::abs(all[0][5] - all[1][5]), 1e-4) << positions;
    EXPECT_GT(std::abs(all[1][5] - all[2][5]), 1e-4) << positions;
  }
}

TEST(ParallelModel, TooLongTargetsAreRefused) {
  Options o = ParallelWay{"slots"}.options();
  o.length = "slots";
  const MadeParallel made(o);
  EXPECT_EQ(made.model.max_predictions(), 7);
  Tape tape(kQuiet);
  const Batch batch(random_sentences({{3, 7}}));
  try {
    made.model.loss(tape, batch, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("7 tokens and its end do not fit into model.slots = 7"), std::string::npos)
        << error.what();
  }
}

TEST(ParallelModel, RefusesWhatNeedsSteps) {
  for (const auto& change : std::vector<std::function<void(Options&)>>{
           [](Options& o) { o.attention.normalise = "hard_sampled"; },
           [](Options& o) { o.attention.time = "guided", o.length = "slots"; }}) {
    Options o = ParallelWay{"plain"}.options();
    change(o);
    EXPECT_THROW(MadeParallel made(o), Error);
  }
  Options o = ParallelWay{"plain"}.options();
  EXPECT_THROW(Made made(o), Error) << "Seq2Seq writes step by step";
}

/// The cost of straying from the diagonal is added in training, times its weight, which may fall.
TEST(ParallelModel, GuidedAttentionCostsWhatItStrays) {
  const auto loss_of = [](float weight, bool training, int64_t updates = 0, float scale = 1.0f) {
    Options o = ParallelWay{"plain"}.options();
    o.attention.time = "guided";
    o.attention.guide_weight = weight;
    o.attention.guide_schedule = "linear";
    o.attention.guide_steps = 100;
    const MadeParallel made(o);
    Tape tape({.recording = true, .training = training, .seed = 4});
    Batch batch(ragged());
    batch.updates_before = updates;
    return made.model.loss(tape, batch, {.scale = scale}).loss.item();
  };
  const double none = loss_of(0.0f, true), one = loss_of(1.0f, true), two = loss_of(2.0f, true);
  EXPECT_GT(one - none, 0.1);
  EXPECT_NEAR(two - none, 2.0 * (one - none), 1e-4);
  EXPECT_NEAR(loss_of(2.0f, true, 50), one, 1e-4);
  EXPECT_NEAR(loss_of(1.0f, true, 0, 0.5f), 0.5 * one, 1e-4);
  EXPECT_EQ(loss_of(1.0f, false), loss_of(0.0f, false));
}

// -------------------------------------------------------------------------------------------------------------- blanks

TEST(Blanks, NumbersAreDrawnEvenlyAndSoAreThePlaces) {
  const Batch batch(random_sentences({{1, 4}}));
  const data::Targets& target = batch.targets;
  constexpr int kDraws = 8000;
  std::vector<int> numbers(5), places(4);
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const BlankedTargets blanked = leave_blanks(target, 0, seed);
    ++numbers[blanked.asked.size()];
    for (const int64_t row : blanked.asked) ++places[static_cast<size_t>(row)];
  }
  EXPECT_EQ(numbers[0], 0);
  for (int n = 1; n <= 4; ++n) EXPECT_NEAR(numbers[static_cast<size_t>(n)], kDraws / 4.0, 250) << n;
  for (const int count : places) EXPECT_NEAR(count, kDraws * 5 / 8.0, 250);  // (1 + 2 + 3 + 4) / 4 of 4
}

TEST(Blanks, WhatFollowsTheEndIsLikeTheEnd) {
  const Batch batch(random_sentences({{1, 2}, {1, 0}}));
  const data::Targets& target = batch.targets;
  bool known = false, blank = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const BlankedTargets blanked = leave_blanks(target, 5, seed);
    ASSERT_EQ(blanked.offsets, (std::vector<int64_t>{0, 5, 10}));
    for (size_t row = 3; row < 5; ++row) ASSERT_EQ(blanked.tokens[row], blanked.tokens[2]);
    (blanked.tokens[2] == kBlank ? blank : known) = true;
    for (size_t row = 5; row < 10; ++row) ASSERT_EQ(blanked.tokens[row], kBlank);
    ASSERT_EQ(blanked.predictions.back(), 3);
  }
  EXPECT_TRUE(known && blank);
}

}  // namespace
}  // namespace heed::model::test
