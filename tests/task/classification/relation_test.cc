// Two texts and what they become together, against the formulas, in double precision.
#include "heed/task/classification/relation/all.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "heed/task/classification/keys.h"
#include "heed/tensor/tape.h"

namespace heed::task::test {
namespace {

constexpr int64_t kWidth = 4, kTokens = 9, kOut = 6;

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// The states are the vectors.
class Nothing final : public encode::Encoder {
 public:
  encode::Encoded run(const Packed& x) const override { return {.memory = x}; }
  int64_t width() const override { return kWidth; }
};

Row row_of(const float* data, int64_t count) { return {data, data + count}; }
double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Row times(const Parameter& weight, const Row& x, const Parameter* bias) {
  Row y;
  for (int64_t i = 0; i < weight.rows(); ++i)
    y.push_back(dot(row_of(weight.value.data() + i * weight.cols(), weight.cols()), x) +
                (bias ? static_cast<double>(bias->value.data()[i]) : 0.0));
  return y;
}
Row joined(std::initializer_list<Row> parts) {
  Row all;
  for (const Row& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
Row each(const Row& a, const Row& b, const std::function<double(double, double)>& f) {
  Row y;
  for (size_t i = 0; i < a.size(); ++i) y.push_back(f(a[i], b[i]));
  return y;
}

class RelationTest : public testing::Test {
 protected:
  RelationTest() : parameters_(7), embed_(Scope(parameters_) / "source", {.vocabulary = kTokens, .width = kWidth}) {
    options_.width = kOut;
    options_.dropout = 0.0f;
    texts_.add({.tokens = a0_, .second = b0_});
    texts_.add({.tokens = a1_, .second = b1_});
  }

  Parameter& parameter(const char* name) { return parameters_.at(name); }
  Rows vectors(const std::vector<int32_t>& ids) {
    Rows rows;
    for (const int32_t id : ids) rows.push_back(row_of(parameter("source.weight").value.data() + id * kWidth, kWidth));
    return rows;
  }
  /// What `query` finds in the rows: scaled dot products.
  static Row found(const Row& query, const Rows& rows) {
    Row weights, context(rows.front().size());
    for (const Row& row : rows) weights.push_back(dot(query, row) / std::sqrt(static_cast<double>(query.size())));
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - most);
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t c = 0; c < context.size(); ++c) context[c] += weights[i] / sum * rows[i][c];
    return context;
  }
  /// [2, width]
  void expect_rows(const char* relation, const std::function<Row(const Rows&, const Rows&)>& of_texts) {
    options_.own.of<LabelKeys>().relation = relation;
    const Scope scope = Scope(parameters_) / "text";
    const auto made = find_relation(relation).make({scope, options_, kWidth, kWidth});
    const Nothing encoder;
    Tape tape({.recording = false, .training = false});
    const Tensor y = made->run({embed_, &encoder}, tape, texts_, nullptr);
    const Row expected[] = {of_texts(vectors(a0_), vectors(b0_)), of_texts(vectors(a1_), vectors(b1_))};
    ASSERT_EQ(y.rows(), 2);
    ASSERT_EQ(y.cols(), made->width());
    for (int64_t b = 0; b < 2; ++b) {
      ASSERT_EQ(y.cols(), std::ssize(expected[b]));
      for (int64_t c = 0; c < y.cols(); ++c) EXPECT_NEAR(y.row(b)[c], expected[b][static_cast<size_t>(c)], 1e-5);
    }
  }

  const std::vector<int32_t> a0_ = {3, 5, 4}, b0_ = {5, 8}, a1_ = {6}, b1_ = {7, 3, 6, 4};
  Parameters parameters_;
  embed::Embed embed_;
  model::Options options_;
  data::Sources texts_;
};

TEST_F(RelationTest, Compare) {
  const auto compared = [&](const Rows& text, const Rows& other) {
    Row sum(kOut), most(kOut);
    for (const Row& h : text) {
      const Row c = found(h, other);
      const Row x = joined({h, c, each(h, c, std::minus<>()), each(h, c, std::multiplies<>())});
      Row v = times(parameter("text.compare.weight"), x, &parameter("text.compare.bias"));
      for (double& one : v) one = std::max(one, 0.0);
      sum = each(sum, v, std::plus<>());
      most = each(most, v, [](double a, double b) { return std::max(a, b); });
    }
    return joined({sum, most});
  };
  expect_rows("compare", [&](const Rows& a, const Rows& b) { return joined({compared(a, b), compared(b, a)}); });
}

TEST_F(RelationTest, CompareBySumsAlone) {
  options_.own.of<LabelKeys>().aggregate = "sum";
  const Scope scope = Scope(parameters_) / "text";
  EXPECT_EQ(find_relation("compare").make({scope, options_, kWidth, kWidth})->width(), 2 * kOut);
}

TEST_F(RelationTest, WordByWord) {
  options_.attention.score = "additive";
  expect_rows("word_by_word", [&](const Rows& a, const Rows& b) {
    const auto read = [&](const Rows& text, const Rows& other) {
      Row r(kWidth);
      for (const Row& h : text) {
        // additive: v^T tanh(W_q Q [h; r] + W_k y)
        const Row q = times(parameter("text.align.score.query.weight"),
                            times(parameter("text.ask.weight"), joined({h, r}), nullptr), nullptr);
        Row scores, context(kWidth);
        double sum = 0;
        for (const Row& y : other) {
          const Row k = times(parameter("text.align.score.key.weight"), y, nullptr);
          const Row t = each(q, k, [](double one, double two) { return std::tanh(one + two); });
          scores.push_back(std::exp(dot(t, row_of(parameter("text.align.score.v").value.data(), std::ssize(t)))));
          sum += scores.back();
        }
        for (size_t i = 0; i < other.size(); ++i)
          for (size_t c = 0; c < context.size(); ++c) context[c] += scores[i] / sum * other[i][c];
        const Row kept = times(parameter("text.keep.weight"), r, nullptr);
        r = each(times(parameter("text.found.weight"), context, &parameter("text.found.bias")), kept,
                 [](double one, double two) { return one + std::tanh(two); });
      }
      Row v = times(parameter("text.end.weight"), joined({r, text.back()}), &parameter("text.end.bias"));
      for (double& one : v) one = std::tanh(one);
      return v;
    };
    return joined({read(a, b), read(b, a)});
  });
}

TEST_F(RelationTest, JoinedTextsHaveMarks) {
  options_.pool = "mean";
  expect_rows("joined", [&](const Rows& a, const Rows& b) {
    Row mean(kWidth);
    const double count = static_cast<double>(a.size() + b.size());
    for (const Rows* text : {&a, &b})
      for (const Row& h : *text) {
        const float* mark = parameter("text.segment.weight").value.data() + (text == &b ? kWidth : 0);
        mean =
            each(mean, each(h, row_of(mark, kWidth), std::plus<>()), [&](double m, double x) { return m + x / count; });
      }
    return mean;
  });
}

TEST(Relations, AWrongNameIsRefused) { EXPECT_THROW(find_relation("comparison"), Error); }

}  // namespace
}  // namespace heed::task::test
