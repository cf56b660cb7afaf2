#include "heed/layer/embedding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

const std::vector<int32_t> kIds = {2, 0, 4, 2, 2};  // one is asked for three times, 1 and 3 never

class Embeddings : public testing::TestWithParam<bool> {};

TEST_P(Embeddings, LookUp) {
  const bool scaled = GetParam();
  Parameters all(1);
  const Embedding layer(Scope(all) / "source", {.vocabulary = 5, .width = 3, .scaled = scaled});
  EXPECT_EQ(names(all), std::vector<std::string>{"source.weight"});
  check_layer({&all,
               {},
               [&](Tape& tape, const Tensors&) { return Tensors{layer(tape, kIds)}; },
               [&](const Weights& w, const Matrices&) {
                 return Matrices{make_matrix(5, 3, [&](int64_t n, int64_t c) {
                   return w.at("source.weight")(kIds[n], c) * (scaled ? std::sqrt(3.0) : 1.0);
                 })};
               }});
}

TEST_P(Embeddings, TiedOutputAddsToTheSameGradient) {
  const bool scaled = GetParam();
  Parameters all(1);
  const Embedding layer(all, {.vocabulary = 5, .width = 3, .scaled = scaled});
  check_layer({&all,
               {random(5, 3)},
               [&](Tape& tape, const Tensors& x) { return Tensors{layer.logits(add(layer(tape, kIds), x[0]))}; },
               [&](const Weights& w, const Matrices& x) {
                 const Matrix& table = w.at("weight");
                 const Matrix sum = make_matrix(5, 3, [&](int64_t n, int64_t c) {
                   return table(kIds[n], c) * (scaled ? std::sqrt(3.0) : 1.0) + x[0](n, c);
                 });
                 return Matrices{linear(sum, w, "")};
               }});
}
INSTANTIATE_TEST_SUITE_P(Scaled, Embeddings, testing::Bool());

TEST(Embedding, StartsWithTheDeviationAskedFor) {
  for (const float asked : {0.0f, 0.01f}) {
    Parameters all(1);
    const Embedding layer(all, {.vocabulary = 200, .width = 100, .deviation = asked});
    double squares = 0.0;
    for (const double value : layer.weight->value) squares += value * value;
    EXPECT_NEAR(std::sqrt(squares / 20000.0) / (asked > 0.0f ? asked : 0.1f), 1.0, 0.03);
  }
}

TEST(Embedding, IdsOutsideTheVocabulary) {
  Parameters all(1);
  const Embedding layer(Scope(all) / "source", {.vocabulary = 5, .width = 3});
  Tape tape;
  expect_error(
      [&] {
        layer(tape, std::vector<int32_t>{1, -1});
      },
      "embedding 'source.weight': ids[1] is -1, the vocabulary has 5 entries");
  expect_error(
      [&] {
        layer(tape, std::vector<int32_t>{5, 1});
      },
      "embedding 'source.weight': ids[0] is 5, the vocabulary has 5 entries");
  EXPECT_THROW(Embedding(all, {.vocabulary = 0, .width = 3}), Error);
  EXPECT_THROW(Embedding(all, {.vocabulary = 3, .width = 0}), Error);
}

TEST(Embedding, NothingToLookUp) {
  Parameters all(1);
  const Embedding layer(all, {.vocabulary = 5, .width = 3});
  Tape tape;
  const Tensor y = layer(tape, {});
  EXPECT_EQ(y.rows(), 0);
  EXPECT_EQ(y.cols(), 3);
}

TEST(Embedding, SequencesStandBelowEachOther) {
  Parameters all(1);
  const Embedding layer(all / "source", {.vocabulary = 5, .width = 3});
  EXPECT_EQ(names(all), std::vector<std::string>{"source.weight"});
  Tape tape;
  const Packed packed = layer.packed(tape, std::vector<std::vector<int32_t>>{{2, 0}, {}, {4, 2, 2}});
  const Tensor one_by_one = layer(tape, kIds);
  ASSERT_EQ(packed.rows.rows(), 5);
  EXPECT_TRUE(std::equal(one_by_one.data(), one_by_one.data() + one_by_one.size(), packed.rows.data()));
  EXPECT_EQ(std::vector<int64_t>(packed.offsets.at, packed.offsets.at + 4), (std::vector<int64_t>{0, 2, 2, 5}));
  EXPECT_EQ(packed.offsets.count, 3);
}

}  // namespace
}  // namespace heed::test
