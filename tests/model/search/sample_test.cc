// Draws follow the model's probabilities, a seed brings them back, and top_k and top_p leave out what they should.
#include <cmath>
#include <map>
#include <set>

#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

const std::vector<int32_t> kSource = {3, 4, 5};

/// p(v) of the first token, in double.
std::vector<double> first_probabilities(const model::Seq2Seq& model, double temperature = 1.0) {
  Tape tape(kQuiet);
  const auto state = model.start(tape, data::Sources::of(kSource), 4);
  const Tensor logits = model.step(std::vector<int32_t>{kStart}, *state, tape);
  std::vector<double> p;
  double sum = 0.0;
  for (int64_t v = 0; v < logits.cols(); ++v) sum += p.emplace_back(std::exp(logits.row(0)[v] / temperature));
  for (double& x : p) x /= sum;
  return p;
}

int32_t first_token(const Hypothesis& h) { return h.tokens.empty() ? kEnd : h.tokens[0]; }

/// How often each first token comes in many draws.
std::map<int32_t, int64_t> counts(const model::Seq2Seq& model, Options o, int64_t draws) {
  o.sample = true;
  o.nbest = draws;
  o.longest = 1;
  std::map<int32_t, int64_t> counts;
  const std::vector<Result> found = find(model, Texts({kSource}), o);
  for (const Hypothesis& h : found[0].hypotheses) ++counts[first_token(h)];
  return counts;
}

/// Pearson's statistic: with 10 degrees of freedom above 35 once in 8000 times. The seed is fixed.
double chi_square(const std::map<int32_t, int64_t>& counts, const std::vector<double>& right, int64_t draws) {
  double sum = 0.0;
  for (size_t v = 0; v < right.size(); ++v) {
    const auto at = counts.find(static_cast<int32_t>(v));
    const double wanted = right[v] * static_cast<double>(draws);
    const double got = at == counts.end() ? 0.0 : static_cast<double>(at->second);
    if (wanted == 0.0) {
      EXPECT_EQ(got, 0.0) << "token " << v;
    } else {
      sum += (got - wanted) * (got - wanted) / wanted;
    }
  }
  return sum;
}

/// Only those in `stay`, made to add up to 1.
std::vector<double> only(std::vector<double> p, const std::set<size_t>& stay) {
  double sum = 0.0;
  for (const size_t v : stay) sum += p[v];
  for (size_t v = 0; v < p.size(); ++v) p[v] = stay.count(v) ? p[v] / sum : 0.0;
  return p;
}
std::vector<size_t> by_probability(const std::vector<double>& p) {
  std::vector<size_t> order;
  for (size_t v = 0; v < p.size(); ++v) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
  return order;
}

constexpr int64_t kDraws = 20'000;

TEST(Sample, FollowsTheProbabilities) {
  const Decided made(model::test::small("rnn"));
  const std::vector<double> p = first_probabilities(made.model);
  EXPECT_LT(chi_square(counts(made.model, {.seed = 1}, kDraws), p, kDraws), 35.0);
  for (const double temperature : {0.5, 2.0}) {
    const auto drawn = counts(made.model, {.temperature = temperature, .seed = 2}, kDraws);
    EXPECT_LT(chi_square(drawn, first_probabilities(made.model, temperature), kDraws), 35.0);
    EXPECT_GT(chi_square(drawn, p, kDraws), 100.0);  // and the test would see the difference
  }
}

TEST(Sample, TopKLeavesTheLikeliest) {
  const Decided made(model::test::small("transformer"));
  const std::vector<double> p = first_probabilities(made.model);
  const std::vector<size_t> order = by_probability(p);
  const auto drawn = counts(made.model, {.top_k = 3, .seed = 3}, kDraws);
  EXPECT_LT(chi_square(drawn, only(p, {order[0], order[1], order[2]}), kDraws), 35.0);
}

TEST(Sample, TopPLeavesTheFewestThatReachIt) {
  const Decided made(model::test::small("transformer"));
  const std::vector<double> p = first_probabilities(made.model);
  const std::vector<size_t> order = by_probability(p);
  for (const double top_p : {1e-9, 0.3, 0.7, 0.95}) {
    std::set<size_t> stay;
    double sum = 0.0;
    for (const size_t v : order) {
      if (!stay.empty() && sum >= top_p) break;
      stay.insert(v);
      sum += p[v];
    }
    const auto drawn = counts(made.model, {.top_p = top_p, .seed = 4}, kDraws);
    EXPECT_LT(chi_square(drawn, only(p, stay), kDraws), 35.0) << top_p;
    EXPECT_EQ(drawn.size(), stay.size());
  }
  // After top_k, of what that leaves.
  const std::vector<double> four = only(p, {order[0], order[1], order[2], order[3]});
  const double two = four[order[0]] + four[order[1]];
  const auto drawn = counts(made.model, {.top_k = 4, .top_p = two - 1e-6, .seed = 5}, kDraws);
  EXPECT_LT(chi_square(drawn, only(p, {order[0], order[1]}), kDraws), 35.0);
}

/// A vocabulary larger than the number of tokens that top_p looks for first.
TEST(Sample, TopPInALargeVocabulary) {
  model::Options o = model::test::small("rnn");
  o.target_vocabulary = 300;
  const Decided made(o, 5, 0.5f);
  const std::vector<double> p = first_probabilities(made.model);
  const std::vector<size_t> order = by_probability(p);
  std::set<size_t> stay;
  double sum = 0.0;
  for (size_t n = 0; sum < 0.8; ++n) {
    stay.insert(order[n]);
    sum += p[order[n]];
  }
  ASSERT_GT(stay.size(), 64u);
  for (const auto& [token, count] : counts(made.model, {.top_p = 0.8, .seed = 6}, kDraws))
    EXPECT_TRUE(stay.count(static_cast<size_t>(token))) << token;
}

TEST(Sample, ComesBackWithItsSeedAndNumber) {
  Decided made(model::test::small("rnn"));
  made.favour(kEnd, -3.0f);
  const Texts texts({kSource, kSource, kSource});
  const Options o{.longest = 8, .nbest = 4, .sample = true, .seed = 7};
  const auto tokens = [](const std::vector<Result>& results) {
    std::vector<std::vector<std::vector<int32_t>>> all;
    for (const Result& r : results)
      for (all.emplace_back(); const Hypothesis& h : r.hypotheses) all.back().push_back(h.tokens);
    return all;
  };
  const auto drawn = tokens(find(made.model, texts, o));
  EXPECT_EQ(tokens(find(made.model, texts, o)), drawn);
  EXPECT_NE(drawn[0], drawn[1]);        // the same source at another place in the input
  EXPECT_NE(drawn[0][0], drawn[0][1]);  // and every sample of it
  Options other = o;
  other.seed = 8;
  EXPECT_NE(tokens(find(made.model, texts, other)), drawn);

  Tape tape(kQuiet);
  const Texts last({kSource});
  EXPECT_EQ(tokens(search(made.model, tape, {.sources = last.sources, .first = 2}, o))[0], drawn[2]);
}

TEST(Sample, TellsTheModelsLogProbability) {
  const Decided made(model::test::small("rnn"));
  const std::vector<double> p = first_probabilities(made.model);
  const Options o{.longest = 1, .nbest = 20, .sample = true, .temperature = 2.0, .top_k = 4};
  const std::vector<Result> found = find(made.model, Texts({kSource}), o);
  for (const Hypothesis& h : found[0].hypotheses)
    EXPECT_NEAR(h.log_probability, std::log(p[static_cast<size_t>(first_token(h))]), 1e-5);
}

}  // namespace
}  // namespace heed::search::test
