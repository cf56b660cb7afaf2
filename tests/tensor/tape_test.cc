#include "heed/tensor/tape.h"

#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/cross_entropy.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/linear.h"
#include "heed/tensor/op/norm.h"
#include "heed/tensor/op/recurrent.h"
#include "heed/tensor/op/reduce.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Parameter parameter(int64_t rows, int64_t cols) {
  Parameter p;
  p.shape = {rows, cols};
  p.value = to_float(random(rows, cols, 0.3));
  return p;
}

TEST(Tape, GradientsOfParametersAndInputs) {
  const std::vector<float> x = {1, 2, 3};
  Parameter p = parameter(1, 3), frozen = parameter(1, 3);
  frozen.trainable = false;
  Tape tape;
  const Tensor in = tape.input(x.data(), 1, 3, true), silent = tape.input(x.data(), 1, 3);
  const Tensor w = tape.parameter(p), f = tape.parameter(frozen);
  tape.backward(sum(multiply(multiply(in, silent), add(w, f))));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(p.gradient[i], x[i] * x[i]);
    EXPECT_FLOAT_EQ(in.gradient()[i], x[i] * (p.value[i] + frozen.value[i]));
  }
  EXPECT_TRUE(p.has_gradient);
  EXPECT_FALSE(frozen.has_gradient);
  EXPECT_TRUE(frozen.gradient.empty());
  EXPECT_EQ(silent.gradient(), nullptr);
}

/// Notes what is told about final gradients: which, in which order, and their values at that moment.
struct FinalGradients {
  explicit FinalGradients(Tape& tape) {
    tape.on_final_gradient([this](Parameter& p) {
      told.push_back(&p);
      values.push_back(p.gradient);
    });
  }
  std::vector<const Parameter*> told;
  std::vector<std::vector<float>> values;
};

TEST(Tape, TellsOfEveryGradientOnceAndWhenItIsFinal) {
  const std::vector<float> x = {1, 2, 3};
  Parameter tied = parameter(3, 3), middle = parameter(3, 3), last = parameter(1, 3), aside = parameter(1, 3),
            unused = parameter(1, 3), frozen = parameter(3, 3);
  frozen.trainable = false;
  Tape tape;
  FinalGradients final(tape);
  for (int times = 0; times < 2; ++times) {
    tape.reset();
    final.told.clear();
    final.values.clear();
    const Tensor early = tape.parameter(tied);
    Tensor h = tanh(linear(tape.input(x.data(), 1, 3), early));
    h = linear(h, tape.parameter(middle));
    h = linear(h, tape.parameter(frozen));
    h = tanh(linear(linear(h, tape.parameter(middle)), early));
    const Tensor out = multiply(linear(h, tape.parameter(tied)), tape.parameter(last));
    multiply(h, tape.parameter(aside));  // leads nowhere
    EXPECT_TRUE(final.told.empty()) << "before the backward";
    tape.backward(sum(out));
    // As the backward meets what they were first used for.
    EXPECT_EQ(final.told, (std::vector<const Parameter*>{&aside, &last, &middle, &tied}));
    EXPECT_EQ(final.values[1], last.gradient);
    EXPECT_EQ(final.values[2], middle.gradient);
    EXPECT_EQ(final.values[3], tied.gradient);
    EXPECT_FALSE(aside.has_gradient);
    for (Parameter* p : {&tied, &middle, &last, &aside}) p->has_gradient = false;
  }
  tape.on_final_gradient(nullptr);
  tape.reset();
  tape.backward(sum_squares(tape.parameter(tied)));
  EXPECT_EQ(final.told.size(), 4u) << "nobody is told any more";
}

TEST(Tape, TellsOfAParameterWithoutAnyOperation) {
  Parameter p = parameter(1, 2);
  Tape tape;
  FinalGradients final(tape);
  const Tensor w = tape.parameter(p);
  const std::vector<float> one = {1.0f, 2.0f};
  tape.seed_gradient(w, one.data());
  EXPECT_TRUE(final.told.empty());
  tape.run();
  ASSERT_EQ(final.told.size(), 1u);
  EXPECT_EQ(final.values[0], one);
}

TEST(Tape, ParametersAccumulateUntilForgotten) {
  Parameter p = parameter(1, 4);
  Tape tape;
  const auto backward = [&] {
    tape.backward(sum_squares(tape.parameter(p)));
    tape.reset();
  };
  backward();
  const std::vector<float> once = p.gradient;
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(once[i], 2 * p.value[i]);
  backward();
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(p.gradient[i], 2 * once[i]);
  p.has_gradient = false;  // forgotten, not zeroed
  backward();
  EXPECT_EQ(p.gradient, once);
}

TEST(Tape, OneParameterAsTwoTensors) {
  Parameter p = parameter(2, 3);
  Tape tape;
  tape.backward(sum(multiply(tape.parameter(p), tape.parameter(p))));
  for (int i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(p.gradient[i], 2 * p.value[i]);
}

TEST(Tape, OnlyWhatTheLossNeedsRuns) {
  Parameter used = parameter(1, 2), unused = parameter(1, 2);
  Tape tape;
  const Tensor loss = sum(tape.parameter(used));
  const Tensor beside = sum(tanh(tape.parameter(unused)));
  tape.backward(loss);
  EXPECT_TRUE(used.has_gradient);
  EXPECT_FALSE(unused.has_gradient);
  EXPECT_EQ(beside.gradient(), nullptr);
}

TEST(Tape, TwoBackwardsOnOneTape) {
  // The second part of a step stands on the results of the first: its gradient goes no further than the last backward.
  Parameter p = parameter(1, 2);
  Tape tape;
  const Tensor w = tape.parameter(p);
  tape.backward(sum(w));
  EXPECT_EQ(p.gradient, (std::vector<float>{1, 1}));
  tape.backward(sum(scale(w, 3.0f)));
  EXPECT_EQ(p.gradient, (std::vector<float>{4, 4}));
}

TEST(Tape, WithoutRecordingNothingIsKept) {
  Parameter p = parameter(8, 8);
  Tape tape({.recording = false});
  const Tensor loss = sum(tanh(linear(tape.parameter(p), tape.parameter(p))));
  EXPECT_FALSE(loss.needs_gradient());
  EXPECT_TRUE(p.gradient.empty());
  expect_error([&] { tape.backward(loss); },
               "backward: nothing that this tensor depends on needs a gradient (the tape is not recording)");
}

TEST(Tape, Errors) {
  Parameter p = parameter(2, 2);
  Tape tape;
  expect_error([&] { tape.backward(tape.parameter(p)); }, "backward: the loss must be one number, not [2, 2]");
  expect_error([&] { tape.backward(tape.filled(1, 1, 0.0f)); },
               "backward: nothing that this tensor depends on needs a gradient");
}

TEST(Tape, SeedsOfRandomOperations) {
  Tape a({.seed = 1}), b({.seed = 1}), c({.seed = 2});
  const uint64_t first = a.next_seed();
  EXPECT_EQ(first, b.next_seed());
  EXPECT_NE(first, c.next_seed());
  EXPECT_NE(first, a.next_seed());
  a.reset(1);
  EXPECT_EQ(first, a.next_seed());
}

TEST(Tape, Offsets) {
  Tape tape;
  const std::vector<int64_t> at = {0, 2, 2, 7};
  const Offsets ragged = tape.offsets(at), even = tape.even_offsets(3, 4);
  EXPECT_EQ(ragged.count, 3);
  EXPECT_EQ(ragged.total(), 7);
  EXPECT_EQ(ragged.longest(), 5);
  EXPECT_EQ(ragged.length(1), 0);
  EXPECT_EQ(even.total(), 12);
  EXPECT_EQ(even.longest(), 4);
}

TEST(Tape, GradientsAreGivenBackDuringTheBackward) {
  // A chain of 100 sums: its values need 100 pieces of memory, its gradients two at a time.
  Parameter p = parameter(64, 64);
  Tape tape;
  Tensor y = tape.parameter(p);
  for (int i = 0; i < 100; ++i) y = tanh(y);
  const Tensor loss = sum(y);
  const size_t forward = tape.arena().peak();
  tape.backward(loss);
  EXPECT_LT(tape.arena().peak() - forward, size_t{4} * 64 * 64 * sizeof(float));
}

TEST(Tape, OnlyTheResultOfALayerStays) {
  constexpr int64_t kRows = 64, kWidth = 64, kLayers = 12;
  constexpr size_t kBytes = kRows * kWidth * sizeof(float);
  const Matrix x = random(kRows, kWidth);
  const std::vector<float> data = to_float(x);
  const auto deep = [&](Tape& tape, bool drop) {
    const auto layer = [](Tensor in) { return reshape(relu(scale(relu(in), 1.5f)), kWidth, kRows); };
    Tensor y = tape.input(data.data(), kRows, kWidth);
    for (int64_t l = 0; l < kLayers; ++l) y = drop ? tape.only_result([&] { return layer(y); }) : layer(y);
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  Tape all({.recording = false}), one({.recording = false});
  EXPECT_EQ(deep(all, false), deep(one, true));
  EXPECT_GT(all.arena().peak(), kLayers * 3 * kBytes);
  EXPECT_LT(one.arena().peak(), (kLayers + 5) * kBytes);  // what a layer was given stays: it was made before
  one.reset();
  EXPECT_EQ(deep(one, true), deep(all, false));
}

TEST(Tape, ATapeThatRecordsKeepsWhatItsBackwardNeeds) {
  Parameter weight = parameter(8, 8);
  const std::vector<float> data = to_float(random(5, 8));
  const auto gradient = [&](bool drop) {
    Tape tape;
    weight.has_gradient = false;
    const Tensor x = tape.input(data.data(), 5, 8);
    const auto layer = [&] { return tanh(linear(x, tape.parameter(weight))); };
    tape.backward(sum_squares(drop ? tape.only_result(layer) : layer()));
    return weight.gradient;
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Tape, ASteadyStepAsksTheSystemForNothing) {
  Parameter embedding = parameter(50, 24), gain = parameter(1, 24), bias = parameter(1, 24), out = parameter(50, 32);
  Parameter input = parameter(96, 24), state = parameter(96, 32), b1 = parameter(1, 96), b2 = parameter(1, 96);
  Tape tape;
  const auto step = [&](int64_t sequences, int64_t length) {
    std::vector<int64_t> tokens, at = {0};
    std::vector<int32_t> targets;
    for (int64_t b = 0; b < sequences; ++b) {
      for (int64_t t = 0; t < length + b % 3; ++t) {
        tokens.push_back((b + t) % 50);
        targets.push_back(static_cast<int32_t>((b + t + 1) % 50));
      }
      at.push_back(static_cast<int64_t>(tokens.size()));
    }
    const Tensor x = layer_norm(dropout(gather_rows(tape.parameter(embedding), tokens), 0.1f), tape.parameter(gain),
                                tape.parameter(bias));
    const RecurrentWeights w{tape.parameter(input), tape.parameter(state), tape.parameter(b1), tape.parameter(b2)};
    const Tensor rows = gru({x, tape.offsets(at)}, w).rows;
    tape.backward(cross_entropy(linear(rows, tape.parameter(out)), targets, 0.1f));
    tape.reset();
  };
  const auto epoch = [&] {
    for (const auto& [sequences, length] : {std::pair<int64_t, int64_t>{8, 20}, {32, 5}, {3, 60}, {1, 1}, {16, 16}})
      step(sequences, length);
  };
  epoch();
  epoch();
  const int64_t calls = tape.arena().system_calls();
  const size_t capacity = tape.arena().capacity();
  for (int i = 0; i < 5; ++i) epoch();
  EXPECT_EQ(tape.arena().system_calls(), calls);
  EXPECT_EQ(tape.arena().capacity(), capacity);
}

}  // namespace
}  // namespace heed::test
