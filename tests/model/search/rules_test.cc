// Phrases that must or must not come, a prefix, n-grams that do not repeat: with a beam that leaves nothing out, the
// search finds the best of all outputs that keep the rules.
#include <omp.h>

#include "heed/base/error.h"
#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

using Tokens = std::vector<int32_t>;

struct RuledCase {
  std::string name;
  Tokens prefix = {};
  std::vector<Tokens> must = {}, must_not = {};
  int64_t no_repeat_ngram = 0;

  Rules rules() const { return {prefix, Phrases(must), std::make_shared<Phrases>(must_not)}; }
};
void PrintTo(const RuledCase& c, std::ostream* out) { *out << c.name; }

Phrases phrases(std::vector<Tokens> all) { return Phrases(std::move(all)); }

bool repeats(const Tokens& tokens, int64_t n) {
  for (int64_t a = 0; n > 0 && a + n <= std::ssize(tokens); ++a)
    for (int64_t b = a + 1; b + n <= std::ssize(tokens); ++b)
      if (std::equal(tokens.begin() + a, tokens.begin() + a + n, tokens.begin() + b)) return true;
  return false;
}

/// Fills in what is missing.
bool keeps(Hypothesis& h, const RuledCase& c) {
  if (!std::equal(c.prefix.begin(), c.prefix.end(), h.tokens.begin(),
                  h.tokens.begin() + std::min(std::ssize(h.tokens), std::ssize(c.prefix))))
    return false;
  for (const Tokens& phrase : c.must_not)
    if (contains(h.tokens, phrase)) return false;
  for (size_t p = 0; p < c.must.size(); ++p)
    if (!contains(h.tokens, c.must[p])) h.missing.push_back(static_cast<int64_t>(p));
  return !repeats(h.tokens, c.no_repeat_ngram) && (!h.finished || h.missing.empty());
}

std::vector<RuledCase> ruled_cases() {
  return {{.name = "nothing"},
          {.name = "must_one", .must = {{3}}},
          {.name = "must_phrase", .must = {{0, 3}}},
          {.name = "must_two", .must = {{0}, {3, 3}}},
          {.name = "must_overlapping", .must = {{0, 3}, {3, 1}}},
          {.name = "must_one_in_the_other", .must = {{0, 3, 0}, {3}}},
          {.name = "must_more_than_fits", .must = {{0, 0, 0}, {3, 3}}},
          {.name = "must_not_one", .must_not = {{3}}},
          {.name = "must_not_phrases", .must_not = {{0, 3}, {1}, {3, 0, 0}}},
          {.name = "prefix", .prefix = {3, 0}},
          {.name = "no_unigram_twice", .no_repeat_ngram = 1},
          {.name = "no_bigram_twice", .no_repeat_ngram = 2},
          {.name = "all", .prefix = {3}, .must = {{0, 0}}, .must_not = {{1}, {3, 3}}, .no_repeat_ngram = 3}};
}

class Ruled : public testing::TestWithParam<RuledCase> {};

TEST_P(Ruled, TheBestOfAllThatKeepTheRulesAreFound) {
  constexpr int64_t kLongest = 5;
  const RuledCase& c = GetParam();
  const Rules rules = c.rules();
  for (const uint64_t seed : {1, 2, 3}) {
    const FixedGenerator generator(4, seed);
    const Texts texts(std::vector<Tokens>{{5}, {6, 7}});
    const std::vector<const Rules*> of_all = {&rules, &rules};
    Input sources = texts.view();
    sources.rules = of_all;
    Tape tape(kQuiet);
    const Options o{.longest = kLongest, .beam = 400, .nbest = 12, .no_repeat_ngram = c.no_repeat_ngram};
    const std::vector<Result> found = search(generator, tape, sources, o);
    for (size_t b = 0; b < found.size(); ++b) {
      std::vector<Hypothesis> right;
      for (Hypothesis& h : everything(generator, texts.texts[b], kLongest))
        if (keeps(h, c)) right.push_back(h);
      std::stable_sort(right.begin(), right.end(), [](const Hypothesis& x, const Hypothesis& y) {
        if (x.finished != y.finished) return x.finished;
        return x.missing.size() != y.missing.size() ? x.missing.size() < y.missing.size() : x.score > y.score;
      });
      right.resize(std::min<size_t>(right.size(), 12));
      ASSERT_NO_FATAL_FAILURE(expect_same(found[b], Result{right}));
      for (size_t n = 0; n < right.size(); ++n) ASSERT_EQ(found[b].hypotheses[n].missing, right[n].missing);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Ruled, testing::ValuesIn(ruled_cases()), [](const auto& info) { return info.param.name; });

TEST(Rules, GreedySearchTakesTheLikeliestThatIsAllowed) {
  const FixedGenerator generator(6, 4);
  const Tokens source = {7};
  const Rules rules{.prefix = {3}, .must = {}, .must_not = std::make_shared<Phrases>(std::vector<Tokens>{{0}, {4, 5}})};
  const Texts texts(std::vector<Tokens>{source});
  const std::vector<const Rules*> of_all = {&rules};
  Input sources = texts.view();
  sources.rules = of_all;
  Tape tape(kQuiet);
  const Hypothesis h = search(generator, tape, sources, {.longest = 9})[0].best();
  Tokens right;
  double log_probability = 0.0;
  for (bool ended = false; !ended && right.size() < 9;) {
    const std::vector<double> p = log_probabilities(generator.logits_after(source, right));
    int32_t best = -1;
    for (int32_t v = 0; v < 6; ++v) {
      if (right.empty() ? v != 3 : (v == 0 || (right.back() == 4 && v == 5))) continue;
      if (best < 0 || p[static_cast<size_t>(v)] > p[static_cast<size_t>(best)]) best = v;
    }
    log_probability += p[static_cast<size_t>(best)];
    if ((ended = best == kEnd)) break;
    right.push_back(best);
  }
  EXPECT_EQ(h.tokens, right);
  EXPECT_NEAR(h.log_probability, log_probability, 1e-5);
}

TEST(Rules, SamplesKeepThem) {
  const FixedGenerator generator(5, 4);
  const Rules rules{.prefix = {3}, .must = {}, .must_not = std::make_shared<Phrases>(std::vector<Tokens>{{0}, {4, 4}})};
  const Texts texts(std::vector<Tokens>{{7}});
  const std::vector<const Rules*> of_all = {&rules};
  Input sources = texts.view();
  sources.rules = of_all;
  Tape tape(kQuiet);
  for (const bool distinct : {false, true}) {
    const Options o{.longest = 8, .nbest = 40, .sample = true, .distinct = distinct, .no_repeat_ngram = 3};
    const Result found = search(generator, tape, sources, o)[0];
    EXPECT_EQ(found.hypotheses.size(), 40u);
    for (const Hypothesis& h : found.hypotheses) {
      ASSERT_EQ(h.tokens[0], 3);
      EXPECT_FALSE(contains(h.tokens, {0}) || contains(h.tokens, {4, 4}) || repeats(h.tokens, 3));
    }
  }
}

/// Models that would never say them, and the narrowest beams.
TEST(Rules, WhatMustComeAlwaysComes) {
  for (const char* kind : {"rnn", "transformer"}) {
    const Decided made(model::test::small(kind));
    const Texts texts(ragged_sources());
    const Rules one{.must = phrases({{7}})}, phrase{.must = phrases({{6, 6, 5}})},
        several{.must = phrases({{3}, {9, 8}, {4, 4}})};
    const std::vector<const Rules*> rules = {&one, &phrase, &several, nullptr, &several};
    Input sources = texts.view();
    sources.rules = rules;
    for (const int64_t beam : {1, 2, 5}) {
      Tape tape(kQuiet);
      const Options o{.longest = 20, .beam = beam, .nbest = beam};
      const std::vector<Result> found = search(made.model, tape, sources, o);
      for (size_t b = 0; b < found.size(); ++b) {
        const Hypothesis& best = found[b].best();
        EXPECT_TRUE(best.missing.empty());
        for (int64_t p = 0; rules[b] && p < rules[b]->must.count(); ++p)
          EXPECT_TRUE(contains(best.tokens, rules[b]->must.phrase(p)));
      }
      // Without rules, as if nobody had any.
      expect_same(found[3], find(made.model, Texts(texts.texts, {3}), o)[0], 0.0);
    }
  }
}

/// After a 0 nothing may follow, not even END: the 3 is missing.
TEST(Rules, ThatLeaveNoWayOnAreTold) {
  const FixedGenerator generator(4, 4);
  const Rules rules{.must = phrases({{0}, {3}}),
                    .must_not = std::make_shared<Phrases>(std::vector<Tokens>{{1}, {0, 0}, {0, 3}, {3, 0}, {3, 3}})};
  const Texts texts(std::vector<Tokens>{{7}});
  const std::vector<const Rules*> of_all = {&rules};
  Input sources = texts.view();
  sources.rules = of_all;
  Tape tape(kQuiet);
  const Result found = search(generator, tape, sources, {.longest = 9, .nbest = 1})[0];
  ASSERT_EQ(found.hypotheses.size(), 1u);
  EXPECT_TRUE(found.best().stuck);
  EXPECT_FALSE(found.best().finished);
  EXPECT_EQ(found.best().tokens.size(), 1u);
  EXPECT_EQ(found.best().missing.size(), 1u);
}

TEST(Rules, DependNeitherOnTheBatchNorOnTheThreads) {
  const Decided made(model::test::small("transformer"));
  const Texts texts(ragged_sources());
  const Rules one{.must = phrases({{7}})}, two{.prefix = {4}, .must = phrases({{9, 8}, {4, 4}})},
      three{.must = {}, .must_not = std::make_shared<Phrases>(std::vector<Tokens>{{6}, {3, 3}})};
  const std::vector<const Rules*> rules = {&one, &two, &three, nullptr, &two};
  Input sources = texts.view();
  sources.rules = rules;
  const int threads = omp_get_max_threads();
  for (const int64_t beam : {1, 3}) {
    const Options o{.longest = 12, .beam = beam, .nbest = beam, .no_repeat_ngram = 4};
    std::vector<Result> alone;
    for (size_t b = 0; b < 5; ++b) {
      const Texts of_one(std::vector<Tokens>{texts.texts[b]});
      const std::vector<const Rules*> of_it = {rules[b]};
      Input source = of_one.view();
      source.rules = of_it;
      Tape tape(kQuiet);
      alone.push_back(search(made.model, tape, source, o)[0]);
    }
    for (const int64_t tokens : {1, 20, 1000})
      for (const int count : {1, 3}) {
        omp_set_num_threads(count);
        TapePool tapes;
        const std::vector<Result> found = search_all(made.model, tapes, sources, o, {.tokens = tokens});
        for (size_t b = 0; b < 5; ++b) expect_same(found[b], alone[b], 0.0);
      }
  }
  omp_set_num_threads(threads);
}

TEST(Rules, ThatCannotBeKeptAreRefused) {
  const Decided made(model::test::small("rnn"));
  const Texts texts(std::vector<Tokens>{{3, 4}});
  Tape tape(kQuiet);
  const auto refused = [&](const Rules& rules, const Options& o) {
    const std::vector<const Rules*> of_all = {&rules};
    Input sources = texts.view();
    sources.rules = of_all;
    EXPECT_THROW(search(made.model, tape, sources, o), Error);
  };
  refused({.must = phrases({{3}})}, {.sample = true});
  refused({.must = phrases({{3}})}, {.beam = 4, .groups = 2});
  refused({.prefix = {3, 4, 5}}, {.longest = 3});
  refused({.must = Phrases(std::vector<Tokens>(65, {3}))}, {.beam = 4});
  refused({}, {.no_repeat_ngram = -1});
  refused({}, {.beam = 4, .groups = 3});
  refused({}, {.beam = 4, .groups = 2, .diversity = -1.0});
  refused({}, {.distinct = true});
}

}  // namespace
}  // namespace heed::search::test
