// Empty sources, targets of one step, targets that never end, the memory of many steps, and what is refused.
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

std::vector<Options> all_kinds() { return {{}, {.beam = 3, .nbest = 2}, {.nbest = 2, .sample = true}}; }

TEST(Empty, ASourceGivesOneEmptyHypothesis) {
  for (const char* kind : {"rnn", "transformer"})
    for (const Options& o : all_kinds()) {
      const Decided made(model::test::small(kind));
      const std::vector<std::vector<int32_t>> texts = {{}, {3, 4}, {}, {5}, {}};
      Options options = o;
      options.longest = 8;
      const std::vector<Result> found = find(made.model, Texts(texts), options);
      ASSERT_EQ(found.size(), 5u);
      for (const size_t b : {0, 2, 4}) {
        ASSERT_EQ(found[b].hypotheses.size(), 1u);
        EXPECT_TRUE(found[b].best().tokens.empty());
        EXPECT_TRUE(found[b].best().finished);
        EXPECT_EQ(found[b].best().log_probability, 0.0);
      }
      for (const int64_t b : {1, 3})
        expect_same(found[static_cast<size_t>(b)], find(made.model, Texts(texts, {b}), options)[0]);
    }
}

TEST(Empty, NoSourcesGiveNoResults) {
  const Decided made(model::test::small("rnn"));
  Tape tape(kQuiet);
  const data::Sources nothing;
  EXPECT_TRUE(search(made.model, tape, {.sources = nothing}, {}).empty());
  TapePool tapes;
  EXPECT_TRUE(search_all(made.model, tapes, {.sources = nothing}, {}).empty());
}

TEST(Longest, OfOneStepIsOneTokenOrEnd) {
  Decided made(model::test::small("transformer"));
  for (const float favour : {-20.0f, 20.0f}) {
    made.favour(kEnd, favour);
    for (Options o : all_kinds()) {
      o.longest = 1;
      const Hypothesis best = find(made.model, Texts({{3, 4, 5}}), o)[0].best();
      EXPECT_EQ(best.finished, favour > 0.0f);
      EXPECT_EQ(best.tokens.size(), favour > 0.0f ? 0u : 1u);
      EXPECT_EQ(best.token_log_probabilities.size(), 1u);
    }
    made.favour(kEnd, -favour);
  }
}

TEST(Longest, HypothesesThatNeverEndAreRankedToo) {
  Decided made(model::test::small("rnn"));
  made.favour(kEnd, -50.0f);
  for (Options o : all_kinds()) {
    o.longest = 6;
    o.alpha = 1.0;
    for (const Result& r : find(made.model, Texts(ragged_sources()), o)) {
      ASSERT_EQ(std::ssize(r.hypotheses), o.nbest);
      for (const Hypothesis& h : r.hypotheses) {
        EXPECT_FALSE(h.finished);
        EXPECT_EQ(h.tokens.size(), 6u);
        EXPECT_NEAR(h.score, h.log_probability / (11.0 / 6.0), 1e-9);
        EXPECT_GE(r.best().score, h.score);
      }
    }
  }
}

/// What ended comes before what did not, however likely that is.
TEST(Longest, FinishedComeFirst) {
  Decided made(model::test::small("rnn"));
  made.favour(kEnd, -3.0f);
  bool both = false;
  for (const Result& r : find(made.model, Texts(ragged_sources()), {.longest = 4, .beam = 11, .nbest = 11})) {
    for (size_t n = 1; n < r.hypotheses.size(); ++n) EXPECT_GE(r.hypotheses[n - 1].finished, r.hypotheses[n].finished);
    both |= r.hypotheses.front().finished && !r.hypotheses.back().finished &&
            r.hypotheses.front().score < r.hypotheses.back().score;
  }
  EXPECT_TRUE(both);
}

/// A tape holds one step, however many there are.
TEST(Memory, DoesNotGrowWithTheSteps) {
  for (const char* kind : {"rnn", "transformer"})
    for (Options o : all_kinds()) {
      Decided made(model::test::small(kind));
      made.favour(kEnd, -50.0f);
      const auto peak = [&](int64_t longest) {
        o.longest = longest;
        Tape tape(kQuiet);
        const Texts texts(ragged_sources());
        search(made.model, tape, texts.view(), o);
        return static_cast<double>(tape.arena().peak());
      };
      EXPECT_LT(peak(400), 1.3 * peak(10)) << kind;
    }
}

TEST(Alignment, IsOfTheHeadsAskedFor) {
  model::Options m = model::test::small("transformer");
  m.decoder_layers = 2;
  const Decided made(m);
  const auto row = [&](Heads heads) {
    return find(made.model, Texts({{3, 4, 5}}), {.longest = 3, .alignment = true, .heads = heads})[0]
        .best()
        .alignment[0];
  };
  std::vector<std::vector<float>> one;
  for (const int64_t layer : {0, 1})
    for (const int64_t head : {0, 1}) one.push_back(row({layer, head}));
  const auto all = row({Heads::kMean, Heads::kMean}), last = row({}), first = row({0, Heads::kMean});
  EXPECT_NE(one[0], one[1]);
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(all[j], (one[0][j] + one[1][j] + one[2][j] + one[3][j]) / 4, 1e-6);
    EXPECT_NEAR(last[j], (one[2][j] + one[3][j]) / 2, 1e-6);
    EXPECT_NEAR(first[j], (one[0][j] + one[1][j]) / 2, 1e-6);
  }
  EXPECT_THROW(row({2, 0}), Error);
  EXPECT_THROW(row({0, 2}), Error);
}

TEST(Refused, WhatMakesNoSense) {
  Decided made(model::test::small("rnn"));
  const Texts texts({{3, 4}});
  for (const Options& o : std::vector<Options>{{.longest = 0},
                                               {.beam = 0},
                                               {.beam = 2, .nbest = 3},
                                               {.nbest = 0},
                                               {.alpha = -1.0},
                                               {.beta = -0.1},
                                               {.beam = 2, .sample = true},
                                               {.sample = true, .temperature = 0.0},
                                               {.sample = true, .top_k = -1},
                                               {.sample = true, .top_p = 0.0},
                                               {.sample = true, .top_p = 1.1}}) {
    EXPECT_THROW(find(made.model, texts, o), Error);
    TapePool tapes;
    EXPECT_THROW(search_all(made.model, tapes, texts.view(), o), Error);
  }
  Tape recording;
  EXPECT_THROW(search(made.model, recording, texts.view(), {}), Error);
  made.favour(4, std::numeric_limits<float>::quiet_NaN());
  for (const Options& o : all_kinds()) EXPECT_THROW(find(made.model, texts, o), Error);
}

/// A token that is forbidden never comes, also where there is nothing else for a place in the beam.
TEST(Forbidden, TokensAreNeverSaid) {
  model::Options m = model::test::small("rnn");
  m.target_vocabulary = 4;
  Decided made(m);
  for (const int32_t token : {0, 1}) made.favour(token, -std::numeric_limits<float>::infinity());
  for (Options o : all_kinds()) {
    o.longest = 4;
    for (const Result& r : find(made.model, Texts(ragged_sources()), o))
      for (const Hypothesis& h : r.hypotheses) {
        EXPECT_TRUE(std::isfinite(h.score));
        for (const int32_t token : h.tokens) EXPECT_EQ(token, 3);
      }
  }
}

}  // namespace
}  // namespace heed::search::test
