// Samples without replacement: all different, and each as often among them as the formula says.
#include <map>
#include <set>

#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

using Key = std::pair<std::vector<int32_t>, bool>;
Key key_of(const Hypothesis& h) { return {h.tokens, h.finished}; }

/// The probability that each of p is among the first three that are drawn without replacement.
std::vector<double> inclusion_of_three(const std::vector<double>& p) {
  std::vector<double> included(p.size(), 0.0);
  for (size_t i = 0; i < p.size(); ++i)
    for (size_t j = 0; j < p.size(); ++j)
      for (size_t k = 0; k < p.size(); ++k) {
        if (i == j || i == k || j == k) continue;
        const double draw = p[i] * p[j] / (1.0 - p[i]) * p[k] / (1.0 - p[i] - p[j]);
        for (const size_t each : {i, j, k}) included[each] += draw;
      }
  return included;
}

TEST(Distinct, SequencesAreIncludedAsOftenAsTheFormulaSays) {
  const FixedGenerator generator(3, 11, 1.5f);
  const std::vector<int32_t> source = {5};
  constexpr int64_t kLongest = 3, kSentences = 30'000;
  for (const double temperature : {1.0, 0.7}) {
    std::map<Key, double> p;
    double sum = 0.0;
    // A temperature changes every step, not the product of all: enumerate with it.
    std::vector<std::pair<std::vector<int32_t>, double>> open = {{{}, 1.0}};
    for (int64_t t = 0; t < kLongest; ++t) {
      std::vector<std::pair<std::vector<int32_t>, double>> longer;
      for (const auto& [tokens, so_far] : open) {
        std::vector<float> logits = generator.logits_after(source, tokens);
        for (float& x : logits) x /= static_cast<float>(temperature);
        const std::vector<double> log_p = log_probabilities(logits);
        for (int32_t v = 0; v < 3; ++v) {
          const double here = so_far * std::exp(log_p[static_cast<size_t>(v)]);
          std::vector<int32_t> next = tokens;
          if (v != kEnd) next.push_back(v);
          if (v == kEnd)
            p[{next, true}] = here;
          else if (t + 1 == kLongest)
            p[{next, false}] = here;
          else
            longer.push_back({next, here});
        }
      }
      open = longer;
    }
    std::vector<double> values;
    for (const auto& [key, value] : p) values.push_back(value), sum += value;
    ASSERT_NEAR(sum, 1.0, 1e-6);
    ASSERT_EQ(p.size(), 15u);

    const Texts texts(std::vector<std::vector<int32_t>>(kSentences, source));
    Tape tape(kQuiet);
    const Options o{.longest = kLongest, .nbest = 3, .sample = true, .temperature = temperature, .distinct = true};
    std::map<Key, int64_t> counts;
    for (const Result& r : search(generator, tape, texts.view(), o)) {
      std::set<Key> different;
      for (const Hypothesis& h : r.hypotheses) {
        different.insert(key_of(h));
        ++counts[key_of(h)];
      }
      ASSERT_EQ(different.size(), 3u);
    }
    const std::vector<double> right = inclusion_of_three(values);
    size_t i = 0;
    for (const auto& [key, value] : p) {
      const double wanted = right[i++], got = static_cast<double>(counts[key]) / kSentences;
      // Five standard deviations of a mean of 30,000 that are 0 or 1.
      EXPECT_NEAR(got, wanted, 5.0 * std::sqrt(wanted * (1.0 - wanted) / kSentences)) << i;
    }
  }
}

TEST(Distinct, ThereAreNoMoreThanCanBeSaid) {
  const FixedGenerator generator(3, 12);
  const std::vector<int32_t> source = {5};
  Tape tape(kQuiet);
  const Result r = search(generator, tape, Texts(std::vector<std::vector<int32_t>>{source}).view(),
                          {.longest = 3, .nbest = 40, .sample = true, .distinct = true})[0];
  std::vector<Hypothesis> right = everything(generator, source, 3);
  std::stable_sort(right.begin(), right.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  expect_same(r, Result{right});  // and their log-probabilities are those of the model
}

TEST(Distinct, SamplesDependNeitherOnTheBatchNorTheirPlace) {
  Decided made(model::test::small("rnn"));
  made.favour(kEnd, -1.0f);
  const Texts texts(ragged_sources());
  const Options o{.longest = 8, .nbest = 4, .sample = true, .top_k = 6, .distinct = true, .seed = 3, .alignment = true};
  TapePool tapes;
  const std::vector<Result> whole = search_all(made.model, tapes, texts.view(), o, {.tokens = 1000});
  const std::vector<Result> cut = search_all(made.model, tapes, texts.view(), o, {.tokens = 1});
  for (size_t b = 0; b < 5; ++b) expect_same(cut[b], whole[b], 0.0);
  Options other = o;
  other.seed = 4;
  bool differs = false;
  const std::vector<Result> again = find(made.model, texts, other);
  for (size_t b = 0; b < 5; ++b) differs |= again[b].best().tokens != whole[b].best().tokens;
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace heed::search::test
