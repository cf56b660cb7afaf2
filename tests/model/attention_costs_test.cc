// What attention adds to the loss of a model while it trains: weights that fall, given alignments, rewards of choices.
#include <cmath>

#include "heed/attend/decay.h"
#include "heed/base/error.h"
#include "tests/model/slopes.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

TEST(Decay, FollowsItsFormula) {
  EXPECT_EQ(attend::decayed(2.0f, "constant", 0, 1000), 2.0f);
  EXPECT_FLOAT_EQ(attend::decayed(2.0f, "linear", 100, 25), 1.5f);
  EXPECT_EQ(attend::decayed(2.0f, "linear", 100, 100), 0.0f);
  EXPECT_EQ(attend::decayed(2.0f, "linear", 100, 5000), 0.0f);
  EXPECT_FLOAT_EQ(attend::decayed(2.0f, "exponential", 100, 100), 0.2f);
  EXPECT_FLOAT_EQ(attend::decayed(2.0f, "exponential", 100, 50), static_cast<float>(2.0 * std::sqrt(0.1)));
  EXPECT_EQ(attend::decayed(2.0f, "exponential", 100, 0), 2.0f);
}

/// loss / scale - nll, in training.
double cost_of(const Made& made, const data::Batch& batch) {
  Tape tape({.recording = false, .seed = 4});
  const OutputLoss loss = made.model.loss(tape, batch, {.scale = 0.5f});
  return loss.loss.item() / 0.5 - loss.negative_log_likelihood;
}

TEST(Guided, ItsWeightFalls) {
  const Batch batch(ragged());
  for (const char* kind : {"rnn", "transformer"}) {
    Options o = small(kind);
    o.attention.time = "guided";
    o.attention.guide_weight = 2.0f;
    const double whole = cost_of(Made(o), batch);
    o.attention.guide_schedule = "linear";
    o.attention.guide_steps = 8;
    const Made made(o);
    for (const int64_t update : {0, 2, 6, 8, 9}) {
      data::Batch at = batch;
      at.updates_before = update;
      EXPECT_NEAR(cost_of(made, at), whole * std::max(0.0, 1.0 - static_cast<double>(update) / 8.0), 1e-4) << update;
    }
  }
}

// ---------------------------------------------------------------------------------------------------- given alignments

/// A batch with some rows that have no link, one, or two; the row of END never has one.
struct Linked {
  Batch batch = Batch(ragged());
  Batch linked = batch;
  std::vector<int64_t>& offsets = linked.targets.aligned_offsets;
  std::vector<int32_t>& sources = linked.targets.aligned_sources;

  Linked() {
    offsets = {0};
    for (size_t b = 0; b < batch.size(); ++b) {
      const int64_t keys = batch.sources.tokens.offsets()[b + 1] - batch.sources.tokens.offsets()[b];
      for (int64_t r = batch.targets.offsets[b]; r < batch.targets.offsets[b + 1]; ++r) {
        const int64_t t = r - batch.targets.offsets[b];
        if (r + 1 < batch.targets.offsets[b + 1] && t % 3 != 2) {
          sources.push_back(static_cast<int32_t>((2 * t + 1) % keys));
          if (t % 3 == 1 && keys > 3) sources.push_back(static_cast<int32_t>(2 * t % keys));
        }
        offsets.push_back(std::ssize(sources));
      }
    }
  }
};

/// - log of the weight on the links, a mean over the chosen layers and heads, from the weights of a search, in double.
double reference(const Made& made, const Linked& linked, const AlignOptions& align) {
  const Batch& batch = linked.batch;
  double sum = 0.0;
  Tape tape(kQuiet);
  const auto state = made.model.start(tape, batch.sources, 10);
  for (int64_t t = 0; t < 7; ++t) {
    std::vector<int32_t> tokens;
    for (size_t b = 0; b < batch.size(); ++b)
      tokens.push_back(
          batch.targets
              .in[static_cast<size_t>(std::min(batch.targets.offsets[b] + t, batch.targets.offsets[b + 1] - 1))]);
    tape.reset();
    decode::Alignment alignment;
    made.model.step(tokens, *state, tape, &alignment);
    for (size_t b = 0; b < batch.size(); ++b) {
      const int64_t row = batch.targets.offsets[b] + t;
      if (row >= batch.targets.offsets[b + 1]) continue;
      const auto at = static_cast<size_t>(row);
      if (linked.offsets[at] == linked.offsets[at + 1]) continue;
      double terms = 0.0, count = 0.0;
      for (int64_t l = 0; l < std::ssize(alignment.layers); ++l)
        for (int64_t h = 0; h < alignment.layers[static_cast<size_t>(l)].heads; ++h) {
          if ((align.layer >= 0 && l != align.layer) || (align.head >= 0 && h != align.head)) continue;
          double on = 0.0;
          for (int64_t n = linked.offsets[at]; n < linked.offsets[at + 1]; ++n)
            on += alignment.layers[static_cast<size_t>(l)].at(static_cast<int64_t>(b), h,
                                                              0)[linked.sources[static_cast<size_t>(n)]];
          terms -= std::log(std::max(on, 1e-6));  // forward_only: a link may lie behind
          count += 1.0;
        }
      sum += terms / count;
    }
  }
  return align.weight * sum;
}

struct LinkCase {
  const char* name;
  const char* kind;
  std::function<void(Options&)> change;
};
std::ostream& operator<<(std::ostream& out, const LinkCase& c) { return out << c.name; }

class GivenAlignments : public testing::TestWithParam<LinkCase> {
 protected:
  Options options() const {
    Options o = small(GetParam().kind);
    o.activation = "gelu";
    if (o.kind == "transformer") o.decoder_layers = 2;
    GetParam().change(o);
    return o;
  }
};

TEST_P(GivenAlignments, CostIsMinusTheLogOfTheWeightOnTheLinks) {
  const Linked linked;
  const Made made(options());
  EXPECT_NEAR(cost_of(made, linked.linked), reference(made, linked, options().align), 2e-4);
  EXPECT_NEAR(cost_of(made, linked.batch), 0.0, 1e-5);
}

TEST_P(GivenAlignments, GradientsAreSlopes) {
  const Linked linked;
  Made made(options());
  Tape tape;
  tape.backward(made.model.loss(tape, linked.linked, {}).loss);
  expect_slopes(made.parameters, [&] {
    Tape quiet(kQuiet);
    return made.model.loss(quiet, linked.batch, {}).negative_log_likelihood + reference(made, linked, options().align);
  });
}

INSTANTIATE_TEST_SUITE_P(
    , GivenAlignments,
    testing::Values(LinkCase{"additive", "rnn", [](Options& o) { o.attention.score = "additive"; }},
                    LinkCase{"fed", "rnn", [](Options& o) { o.input_feeding = true, o.align.weight = 0.5f; }},
                    LinkCase{"heads", "rnn",
                             [](Options& o) {
                               o.attention.structure = "multi_head";
                               o.attention.heads = 2;
                               o.align.head = 1;
                             }},
                    LinkCase{"transformer", "transformer", [](Options&) {}},
                    LinkCase{"one_layer", "transformer", [](Options& o) { o.align.layer = 1, o.align.weight = 2.0f; }},
                    LinkCase{"one_head", "transformer", [](Options& o) { o.align.layer = 0, o.align.head = 1; }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GivenAlignmentsAre, CountedStepByStep) {
  const Linked linked;
  Options o = small("rnn");
  o.attention.time = "forward_only";
  const Made made(o);
  EXPECT_NEAR(cost_of(made, linked.linked), reference(made, linked, o.align), 1e-3);
}

TEST(GivenAlignmentsAre, RefusedWhereNothingLearnsFromThem) {
  const Linked linked;
  Options o = small("rnn");
  o.attention.time = "static";
  const Made made(o);
  EXPECT_THROW(cost_of(made, linked.linked), Error);
  o = small("transformer");
  o.align.layer = 1;
  EXPECT_THROW(Made{o}, Error);
}

// ------------------------------------------------------------------------------------------------- rewards of choices

/// With the reward of the same token without drawing as the baseline, and with the moving average, the mean gradient
/// over many draws is the same: both are the gradient of the expected loss. The first scatters less.
TEST(SelfCritical, ChangesTheNoiseAndNotTheMean) {
  const Batch batch(random_sentences({{4, 3}, {3, 2}}));
  struct Moments {
    std::vector<double> mean;
    double variance = 0.0;
  };
  const auto moments = [&](const char* baseline) {
    Options o = small("rnn");
    o.attention.normalise = "hard_sampled";
    o.attention.score = "additive";
    o.attention.baseline = baseline;
    o.attention.baseline_decay = 0.99f;
    Made made(o);
    made.parameters.at("reinforce.baseline").value = std::vector<float>{0.0f, 0.0f};
    Parameter& query = made.parameters.at("decoder.attention.score.v");
    Moments m;
    m.mean.assign(query.value.size(), 0.0);
    constexpr int kDraws = 4000;
    std::vector<double> squares(m.mean.size(), 0.0);
    for (int n = 0; n < kDraws; ++n) {
      Tape tape({.seed = static_cast<uint64_t>(n) + 1});
      const Loss loss = made.model.loss(tape, batch, {});
      tape.backward(loss.loss);
      apply_change(loss.baseline);
      for (size_t i = 0; i < m.mean.size(); ++i) {
        m.mean[i] += query.gradient[i] / kDraws;
        squares[i] += double{query.gradient[i]} * query.gradient[i] / kDraws;
      }
      made.parameters.forget_gradients();
    }
    for (size_t i = 0; i < m.mean.size(); ++i) m.variance += squares[i] - m.mean[i] * m.mean[i];
    return m;
  };
  const Moments moving = moments("moving"), critical = moments("self_critical");
  const double noise = std::sqrt((moving.variance + critical.variance) / 4000.0);  // of the distance of the two means
  double distance = 0.0, length = 0.0;
  for (size_t i = 0; i < moving.mean.size(); ++i) {
    distance += (moving.mean[i] - critical.mean[i]) * (moving.mean[i] - critical.mean[i]);
    length += critical.mean[i] * critical.mean[i];
  }
  EXPECT_LT(std::sqrt(distance), 2.5 * noise);
  EXPECT_GT(std::sqrt(length), 2.5 * noise) << "too flat to tell anything";
  EXPECT_LT(critical.variance, moving.variance);
}

/// All heads and samples of a row made its context together, so the gradient is that of the sum of their
/// log-probabilities, not of a mean: with m samples of the same distribution, E[d loss] is the slope of E[loss].
TEST(HardSampled, TheMeanGradientIsTheSlopeOfTheExpectedLoss) {
  const Batch batch(random_sentences({{2, 0}}));  // one row, two keys: with two samples, four outcomes
  Options o = small("rnn");
  o.attention.normalise = "hard_sampled";
  o.attention.score = "additive";
  o.attention.samples = 2;
  Made made(o);
  Parameter& v = made.parameters.at("decoder.attention.score.v");
  constexpr int kDraws = 6000;
  std::vector<double> mean(v.value.size(), 0.0);
  for (int n = 0; n < kDraws; ++n) {
    Tape tape({.seed = static_cast<uint64_t>(n) + 1});
    const Loss loss = made.model.loss(tape, batch, {});
    tape.backward(loss.loss);
    apply_change(loss.baseline);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += v.gradient[i] / double{kDraws};
    made.parameters.forget_gradients();
  }
  // E[loss] from draws with the same seeds as the parameter moves: common random numbers would not see the choice
  // change, so the expectation is over many draws of each side.
  const auto expected_loss = [&] {
    double sum = 0.0;
    constexpr int kMany = 20000;
    for (int n = 0; n < kMany; ++n) {
      Tape tape({.recording = false, .seed = static_cast<uint64_t>(n) + 1});
      sum += made.model.loss(tape, batch, {}).negative_log_likelihood / kMany;
    }
    return sum;
  };
  double length = 0.0;
  for (const double each : mean) length += each * each;
  length = std::sqrt(length);
  ASSERT_GT(length, 1e-4);
  std::vector<float> before = v.value;
  const double step = 0.5;
  const auto at = [&](double h) {
    for (size_t i = 0; i < before.size(); ++i) v.value[i] = static_cast<float>(before[i] + h * mean[i] / length);
    const double loss = expected_loss();
    v.value = before;
    return loss;
  };
  const double slope = (at(step) - at(-step)) / (2 * step);
  EXPECT_NEAR(slope, length, 0.25 * length);
}

}  // namespace
}  // namespace heed::model::test
