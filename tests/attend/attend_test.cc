// attend() on plain arrays: the bits of the calls that it stands for, and what it says of arrays that do not fit.
#include "heed/attend/attend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/kernels/attention.h"
#include "heed/tensor/tape.h"

namespace heed::attend::arrays_test {
namespace {

constexpr int64_t kBatch = 2, kQueries = 3, kKeys = 5, kWidth = 8, kValueWidth = 4;

std::vector<float> random_numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = normal(random);
  return numbers;
}

struct Numbers {
  std::vector<float> q = random_numbers(kBatch * kQueries * kWidth, 1);
  std::vector<float> k = random_numbers(kBatch * kKeys * kWidth, 2);
  std::vector<float> v = random_numbers(kBatch * kKeys * kValueWidth, 3);

  Array queries() const { return {q.data(), kBatch, kQueries, kWidth}; }
  Array keys() const { return {k.data(), kBatch, kKeys, kWidth}; }
  Array values() const { return {v.data(), kBatch, kKeys, kValueWidth}; }
};

/// The same by hand.
ArrayResult by_hand(const Numbers& n, const std::string& mechanism, Options options, uint64_t seed) {
  options.query_width = options.key_width = kWidth;
  options.value_width = kValueWidth;
  Parameters parameters(seed);
  const auto made = make(parameters, mechanism, options);
  Tape tape({.recording = false, .seed = seed});
  const Memory memory{.rows = {tape.input(n.k.data(), kBatch * kKeys, kWidth), tape.even_offsets(kBatch, kKeys)},
                      .values = tape.input(n.v.data(), kBatch * kKeys, kValueWidth)};
  const Queries queries{
      .rows = {tape.input(n.q.data(), kBatch * kQueries, kWidth), tape.even_offsets(kBatch, kQueries)}};
  const Attended found = made->attend(queries, made->prepare(memory), {}, {.weights = true});
  ArrayResult result;
  result.context.assign(found.context.data(), found.context.data() + found.context.size());
  const Weights& w = found.weights;
  result.weights.assign(w.data, w.data + w.batch * w.heads * w.queries * w.keys);
  return result;
}

std::string refusal(const std::string& mechanism, const Array& q, const Array& k, const Array& v,
                    const ArrayOptions& options = {}) {
  try {
    attend(mechanism, q, k, v, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(AttendOnArrays, GivesTheBitsOfTheCallsItStandsFor) {
  const Numbers n;
  for (const char* score : {"dot", "scaled_dot", "cosine", "general", "additive", "mlp", "projected"})
    for (const char* normalise : {"softmax", "sparsemax", "sigmoid"}) {
      SCOPED_TRACE(std::string(score) + " " + normalise);
      const Options options{.normalise = normalise, .region = "causal", .heads = 2};
      const ArrayResult expected = by_hand(n, score, options, 7);
      const ArrayResult found =
          attend(score, n.queries(), n.keys(), n.values(), {.mechanism = options, .seed = 7, .weights = true});
      EXPECT_EQ(found.batch, kBatch);
      EXPECT_EQ(found.length, kQueries);
      EXPECT_EQ(found.width, kValueWidth);
      EXPECT_EQ(found.heads, 2);
      EXPECT_EQ(found.keys, kKeys);
      EXPECT_EQ(found.context, expected.context);
      EXPECT_EQ(found.weights, expected.weights);
    }
}

/// Python's heed.attend calls the loop for dot products.
TEST(AttendOnArrays, GivesTheBitsOfTheLoop) {
  const Numbers n;
  kernels::Problem problem;
  problem.shape = {
      .batch = kBatch, .heads = 2, .queries = kQueries, .keys = kKeys, .dim = kWidth / 2, .value_dim = kValueWidth / 2};
  problem.score.scale = 1.0f / std::sqrt(static_cast<float>(kWidth) / 2);
  std::vector<float> out(kBatch * kQueries * kValueWidth);
  const auto side_by_side = [](auto* data, int64_t rows, int64_t width) {
    return kernels::Strided<std::remove_pointer_t<decltype(data)>>{data, rows * width, width / 2, width, 1};
  };
  ASSERT_TRUE(kernels::forward(problem,
                               {side_by_side(n.q.data(), kQueries, kWidth), side_by_side(n.k.data(), kKeys, kWidth),
                                side_by_side(n.v.data(), kKeys, kValueWidth)},
                               {.out = side_by_side(out.data(), kQueries, kValueWidth)}));
  EXPECT_EQ(attend("scaled_dot", n.queries(), n.keys(), n.values(), {.mechanism = {.heads = 2}}).context, out);
}

TEST(AttendOnArrays, ReadsRowsThroughTheirStrides) {
  const Numbers n;
  constexpr int64_t kRow = kWidth + 3, kSequence = kKeys * kRow + 2;
  std::vector<float> wide(kBatch * kSequence, std::numeric_limits<float>::quiet_NaN());
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t i = 0; i < kKeys; ++i)
      std::copy_n(&n.k[static_cast<size_t>((b * kKeys + i) * kWidth)], kWidth,
                  &wide[static_cast<size_t>(b * kSequence + i * kRow)]);
  const Array keys{wide.data(), kBatch, kKeys, kWidth, kRow, kSequence};
  EXPECT_EQ(attend("additive", n.queries(), keys, n.values()).context,
            attend("additive", n.queries(), n.keys(), n.values()).context);
}

TEST(AttendOnArrays, LengthsHideTheRestAsAMaskDoes) {
  const Numbers n;
  const std::vector<int32_t> lengths = {5, 2};
  std::vector<uint8_t> mask(kBatch * kQueries * kKeys, 1);
  for (int64_t i = 0; i < kQueries; ++i)
    for (int64_t j = lengths[1]; j < kKeys; ++j) mask[static_cast<size_t>((kQueries + i) * kKeys + j)] = 0;
  const ArrayResult by_length =
      attend("scaled_dot", n.queries(), n.keys(), n.values(), {.key_lengths = lengths, .weights = true});
  const ArrayResult by_mask =
      attend("scaled_dot", n.queries(), n.keys(), n.values(), {.mask = mask.data(), .weights = true});
  EXPECT_EQ(by_length.context, by_mask.context);
  EXPECT_EQ(by_length.weights, by_mask.weights);
  EXPECT_EQ(by_length.weights[static_cast<size_t>(kQueries * kKeys + 2)], 0.0f);

  const std::vector<int32_t> queries = {3, 1};
  const ArrayResult shorter = attend("scaled_dot", n.queries(), n.keys(), n.values(), {.query_lengths = queries});
  const auto first_hidden = shorter.context.begin() + (kQueries + 1) * kValueWidth;
  EXPECT_TRUE(std::all_of(first_hidden, shorter.context.end(), [](float x) { return x == 0.0f; }));
}

TEST(AttendOnArrays, AddsABiasAndMovesTheQueriesToTheEnd) {
  const Numbers n;
  const std::vector<float> none(kBatch * kQueries * kKeys, 0.0f);
  const Options causal{.region = "causal"};
  const ArrayResult at_end = attend("scaled_dot", n.queries(), n.keys(), n.values(),
                                    {.mechanism = causal, .bias = none.data(), .bottom_right = true, .weights = true});
  EXPECT_GT(at_end.weights[kKeys - 3], 0.0f);  // the first query stands on key 2
  EXPECT_EQ(at_end.weights[kKeys - 2], 0.0f);
  std::vector<float> away = none;
  away[0] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(attend("scaled_dot", n.queries(), n.keys(), n.values(), {.bias = away.data(), .weights = true}).weights[0],
            0.0f);
  const ArrayResult near =
      attend("scaled_dot", n.queries(), n.keys(), n.values(), {.window_left = 0, .window_right = 0, .weights = true});
  EXPECT_EQ(near.weights[0], 1.0f);
}

TEST(AttendOnArrays, TakesParametersOrDrawsThem) {
  const Numbers n;
  Parameters seven(7), eight(8);
  for (Parameters* each : {&seven, &eight})
    make(*each, "additive", {.query_width = kWidth, .key_width = kWidth, .value_width = kValueWidth, .hidden = 6});
  const auto call = [&](const ArrayOptions& options) {
    return attend("additive", n.queries(), n.keys(), n.values(), options).context;
  };
  const Options options{.hidden = 6};
  EXPECT_EQ(call({.mechanism = options, .parameters = &seven, .seed = 8}), call({.mechanism = options, .seed = 7}));
  EXPECT_NE(call({.mechanism = options, .parameters = &eight}), call({.mechanism = options, .parameters = &seven}));
  EXPECT_EQ(refusal("additive", n.queries(), n.keys(), n.values(), {.parameters = &seven}).substr(0, 20),
            "parameters: expected");
  EXPECT_NE(refusal("dot", n.queries(), n.keys(), n.values(), {.parameters = &seven}).find("expected none; got"),
            std::string::npos);
}

TEST(AttendOnArrays, SaysWhatDoesNotFit) {
  const Numbers n;
  const Array q = n.queries(), k = n.keys(), v = n.values();
  EXPECT_EQ(refusal("scaled_dot", q, {k.data, 1, kKeys, kWidth}, v),
            "k: expected [2, keys, width] beside q [2, 3, 8], got [1, 5, 8]");
  EXPECT_EQ(refusal("scaled_dot", q, k, {v.data, kBatch, 4, kValueWidth}),
            "v: expected [2, 5, width] beside k [2, 5, 8], got [2, 4, 4]");
  EXPECT_EQ(refusal("scaled_dot", {nullptr, 2, 3, 8}, k, v), "q: expected [2, 3, 8] numbers, got a null pointer");
  EXPECT_EQ(refusal("scaled_dot", {q.data, 2, 3, 8, 4}, k, v), "q: row_stride: expected at least the width 8, got 4");
  EXPECT_EQ(refusal("scaled_dot", q, k, v, {.mechanism = {.key_width = 9}}),
            "key_width: expected the width 8 of k, got 9");
  const std::vector<int32_t> one = {1}, far = {1, 6};
  EXPECT_EQ(refusal("scaled_dot", q, k, v, {.key_lengths = one}), "key_lengths: expected 2 numbers, got 1");
  EXPECT_EQ(refusal("scaled_dot", q, k, v, {.key_lengths = far}), "key_lengths: expected 0 to 5, got 6");
  EXPECT_NE(refusal("scaled_dot", q, k, v, {.mechanism = {.hidden = 3}}).find("hidden"), std::string::npos);
  EXPECT_NE(refusal("scalled_dot", q, k, v).find("scaled_dot"), std::string::npos);
  EXPECT_NE(refusal("learned_query", q, k, v).find("makes its own queries"), std::string::npos);
  EXPECT_NE(refusal("hierarchical", q, k, v), "accepted");
  EXPECT_NE(refusal("dot", q, {k.data, 2, 5, 8}, v, {.mechanism = {.heads = 3}}), "accepted");

  std::vector<float> huge(n.q.size(), 3e38f);
  EXPECT_NE(refusal("dot", {huge.data(), kBatch, kQueries, kWidth}, k, v).find("too large for float32"),
            std::string::npos);
  huge[0] = std::numeric_limits<float>::infinity();  // what comes in goes through
  EXPECT_EQ(refusal("dot", {huge.data(), kBatch, kQueries, kWidth}, k, v), "accepted");
}

TEST(AttendOnArrays, NothingGivesNothing) {
  const Numbers n;
  EXPECT_TRUE(attend("dot", {nullptr, 0, 3, 8}, {nullptr, 0, 5, 8}, {nullptr, 0, 5, 4}).context.empty());
  EXPECT_TRUE(attend("dot", {nullptr, 2, 0, 8}, n.keys(), n.values()).context.empty());
  const ArrayResult no_keys = attend("dot", n.queries(), {nullptr, 2, 0, 8}, {nullptr, 2, 0, 4});
  EXPECT_EQ(no_keys.context, std::vector<float>(kBatch * kQueries * kValueWidth, 0.0f));
}

}  // namespace
}  // namespace heed::attend::arrays_test
