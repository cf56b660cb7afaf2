// Groups of a beam that avoid what the groups before them took.
#include <set>

#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

constexpr int32_t kNoEnd = 99;  // an END that no model writes

/// Groups of one hypothesis: each takes the token with the largest log p less what it costs.
TEST(Diverse, IsThePlainFormula) {
  constexpr int64_t kLongest = 6;
  for (const double diversity : {0.3, 1.0, 50.0}) {
    const FixedGenerator generator(6, 8);
    const std::vector<int32_t> source = {4, 5};
    std::vector<Hypothesis> right(4);
    for (int64_t t = 0; t < kLongest; ++t) {
      std::vector<int> taken(6, 0);
      for (Hypothesis& h : right) {
        const std::vector<double> p = log_probabilities(generator.logits_after(source, h.tokens));
        size_t best = 0;
        for (size_t v = 1; v < p.size(); ++v)
          if (p[v] - diversity * taken[v] > p[best] - diversity * taken[best]) best = v;
        ++taken[best];
        h.score = h.log_probability += p[best];
        h.token_log_probabilities.push_back(static_cast<float>(p[best]));
        h.tokens.push_back(static_cast<int32_t>(best));
      }
    }
    std::stable_sort(right.begin(), right.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    const Texts texts(std::vector<std::vector<int32_t>>{source});
    Tape tape(kQuiet);
    const Options o{.end = kNoEnd, .longest = kLongest, .beam = 4, .nbest = 4, .groups = 4, .diversity = diversity};
    expect_same(search(generator, tape, texts.view(), o)[0], Result{right});
  }
}

/// Without a price for it, all groups find the same, which counts once.
TEST(Diverse, NothingComesTwice) {
  const FixedGenerator generator(6, 9);
  const Texts texts(std::vector<std::vector<int32_t>>{{4, 5}, {3}});
  Tape tape(kQuiet);
  Options o{.longest = 7, .beam = 6, .nbest = 6, .groups = 2, .diversity = 0.0};
  const std::vector<Result> found = search(generator, tape, texts.view(), o);
  o.beam = o.nbest = 3;
  o.groups = 1;
  const std::vector<Result> narrow = search(generator, tape, texts.view(), o);
  for (size_t b = 0; b < 2; ++b) expect_same(found[b], narrow[b], 0.0);
}

TEST(Diverse, BeamsOfModelsDifferMore) {
  const Decided made(model::test::small("transformer"));
  const Texts texts(ragged_sources());
  const auto first_tokens = [&](const Options& o) {
    size_t all = 0;
    for (const Result& r : find(made.model, texts, o)) {
      std::set<int32_t> different;
      for (const Hypothesis& h : r.hypotheses) different.insert(h.tokens.empty() ? kEnd : h.tokens[0]);
      all += different.size();
    }
    return all;
  };
  const Options plain{.longest = 8, .beam = 4, .nbest = 4};
  Options diverse = plain;
  diverse.groups = 4;
  diverse.diversity = 5.0;
  EXPECT_GT(first_tokens(diverse), first_tokens(plain));
  // Alone as in a batch.
  const std::vector<Result> together = find(made.model, texts, diverse);
  for (int64_t b = 0; b < 5; ++b)
    expect_same(together[static_cast<size_t>(b)], find(made.model, Texts(texts.texts, {b}), diverse)[0], 0.0);
}

}  // namespace
}  // namespace heed::search::test
