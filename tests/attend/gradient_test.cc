// slow: 7 s
// Every mechanism against its formula in double: what comes out, and the gradient of every input and every parameter.
#include <gtest/gtest.h>

#include "tests/attend/cases.h"
#include "tests/attend/expect.h"

namespace heed::attend::test {
namespace {

/// Where the queries of each sequence begin among the columns of log_prob: static attention has one query per sequence.
std::vector<int64_t> choosing_rows(const Case& c, const Layout& layout) {
  if (c.options.time != "static") return layout.query_offsets;
  return offsets_of(std::vector<int64_t>(layout.batch(), 1));
}

/// Which key each sample chose: the one among those with weight whose log-probability is the one that came out.
Frozen choices_of(const Case& c, const Outcome& got, const Result& soft, const Layout& layout) {
  const int64_t heads = got.weights.heads, rows = got.log_prob.cols, samples = c.options.samples;
  const std::vector<int64_t> offsets = choosing_rows(c, layout);
  Frozen frozen{Dense(got.weights.batch, heads, got.weights.queries, got.weights.keys), {}, {}};
  frozen.samples.assign(samples * heads * rows, -1);
  for (int64_t b = 0; b < layout.batch(); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t row = offsets[b]; row < offsets[b + 1]; ++row)
        for (int64_t s = 0; s < samples; ++s) {
          const int64_t i = row - offsets[b];
          const double log_prob = got.log_prob(s * heads + h, row);
          int64_t best = -1;
          double nearest = samples == 1 ? INFINITY : 1e-4;  // one choice is the one key that has weight
          bool chose_any = false;
          for (int64_t j = 0; j < layout.keys(b); ++j) {
            if (got.weights(b, h, i, j) <= 0.0) continue;
            chose_any = true;
            const double off = samples == 1 ? 0.0 : std::abs(std::log(soft.soft(b, h, i, j)) - log_prob);
            if (off < nearest) nearest = off, best = j;
          }
          EXPECT_EQ(chose_any, best >= 0) << "sequence " << b << " head " << h << " query " << i << " sample " << s
                                          << ": log_prob " << log_prob << " belongs to no key that has weight";
          frozen.samples[(s * heads + h) * rows + row] = best;
          if (best >= 0) frozen.chosen(b, h, i, best) += 1.0 / static_cast<double>(samples);
        }
  return frozen;
}

/// A case, what the library made of it, and the question whose answer it should be.
struct Comparison {
  explicit Comparison(const Case& c)
      : library(c), got(library.run(Run::at_once)), x(library.values()), request(request_of(c)) {
    ask = {&c.options, &library.layout()};
    const Result plain = reference(ask, x);
    frozen = {plain.chosen, plain.soft, {}};
    if (c.options.normalise == "hard_sampled") frozen = choices_of(c, got, plain, library.layout());
    frozen.best = plain.best;
    if (c.options.straight_through || c.options.normalise == "hard" || c.options.normalise == "hard_sampled")
      ask.frozen = &frozen;
  }

  void expect_same_results() const {
    const Result wanted = reference(ask, x);
    expect_results(got, wanted, request);
    EXPECT_TRUE(close("log_prob", got.log_prob.data, wanted.log_prob.data, kResult));
  }

  Library library;
  Outcome got;
  Values x;
  Request request;
  Frozen frozen;
  Question ask{};
};

void expect_like_reference(const Case& c) {
  const Comparison both(c);
  both.expect_same_results();
  expect_gradients(both.got.gradients, central_differences(both.ask, both.x, both.request, both.got.gradients));
}

/// The gradient times a random direction against the central difference along it. The sum runs over some hundred
/// numbers, so the tolerance counts per unit of its largest terms.
void expect_slope_like_reference(const Case& c) {
  const Comparison both(c);
  both.expect_same_results();
  Random random(5);
  Values above = both.x, below = both.x;
  double slope = 0.0, largest = 1.0;
  for (const auto& [name, gradient] : both.got.gradients)
    for (size_t n = 0; n < gradient.data.size(); ++n) {
      const double direction = random.normal();
      above[name].data[n] += kStep * direction;
      below[name].data[n] -= kStep * direction;
      slope += gradient.data[n] * direction;
      largest = std::max(largest, std::abs(gradient.data[n] * direction));
    }
  const double wanted =
      (loss_of(reference(both.ask, above), both.request) - loss_of(reference(both.ask, below), both.request)) /
      (2.0 * kStep);
  EXPECT_NEAR(slope, wanted, 3e-5 * largest + 1e-3 * std::abs(wanted));
}

class Gradient : public testing::TestWithParam<Case> {};
TEST_P(Gradient, IsThatOfTheFormula) { expect_like_reference(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Entry, Gradient, testing::ValuesIn(entry_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Variant, Gradient, testing::ValuesIn(variant_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Crossed, Gradient, testing::ValuesIn(crossed_cases()), name_of_case);

/// The sum of what is tried must not shrink unseen, for example because something is suddenly refused.
TEST(Crossed, AreMany) { EXPECT_GE(crossed_cases().size(), 200u); }

/// Every word with every word, more quickly: results, and the slope of the loss along one random direction.
TEST(EveryCombination, HasTheSlopeOfTheFormula) {
  int64_t tried = 0;
  for (const std::string& score : names_of(Part::score))
    for (const std::string& normalise : names_of(Part::normalise))
      for (const std::string& region : names_of(Part::region))
        for (const std::string& time : names_of(Part::time)) {
          const Case c = words_case({score, normalise, region, time});
          if (!refusals(c.options).empty()) continue;
          SCOPED_TRACE(c.name);
          ++tried;
          expect_slope_like_reference(c);
        }
  EXPECT_GT(tried, 2000);
}

/// Outside training hard_sampled does not sample.
TEST(HardSampled, IsExpectationOrArgmaxAtTest) {
  for (const std::string at_test : {"expectation", "argmax"}) {
    Case c = entry_case("hard_sampled");
    c.options.at_test = at_test;
    Library library(c);
    const Outcome got = library.run(Run::at_once, {.recording = false, .training = false});
    Options same = c.options;
    same.normalise = at_test == "argmax" ? "hard" : "softmax";
    const Result wanted = reference({&same, &library.layout()}, library.values());
    EXPECT_TRUE(close("context", got.context.data, wanted.context.data, kResult)) << at_test;
    EXPECT_TRUE(close("weights", got.weights.data, wanted.weights.data, kResult)) << at_test;
  }
}

/// Over many seeds the chosen keys follow softmax: chi-square over the keys of each query.
TEST(HardSampled, FollowsSoftmax) {
  constexpr int kDraws = 2000;
  Case c = entry_case("hard_sampled");
  c.key_lengths = {4, 6};
  c.query_lengths = {2, 3};
  Library library(c);
  const Result wanted = reference({&c.options, &library.layout()}, library.values());
  Dense counts(2, 1, 3, 6);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Outcome got =
        library.run(Run::at_once, {.recording = false, .training = true, .seed = static_cast<uint64_t>(draw)});
    for (size_t n = 0; n < counts.data.size(); ++n) counts.data[n] += got.weights.data[n];
  }
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < c.query_lengths[b]; ++i) {
      double chi_square = 0.0, total = 0.0;
      for (int64_t j = 0; j < c.key_lengths[b]; ++j) {
        const double expected = kDraws * wanted.soft(b, 0, i, j);
        chi_square += std::pow(counts(b, 0, i, j) - expected, 2.0) / expected;
        total += counts(b, 0, i, j);
      }
      EXPECT_EQ(total, kDraws);
      // The 99.99 % quantile for 3 and for 5 degrees of freedom: five queries, a fixed seed.
      EXPECT_LT(chi_square, b == 0 ? 21.1 : 25.7) << "sequence " << b << " query " << i;
    }
}

/// A fixed table has no gradient and needs none.
TEST(SynthesizerRandom, FixedTableIsNotTrained) {
  Case c = entry_case("synthesizer_random");
  c.options.fixed_table = true;
  Library library(c);
  library.run(Run::at_once);
  EXPECT_FALSE(library.parameters().at("score.table").trainable);
  EXPECT_FALSE(library.parameters().at("score.table").has_gradient);
}

}  // namespace
}  // namespace heed::attend::test
