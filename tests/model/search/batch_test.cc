// What is found for a sentence does not depend on the sentences beside it, on their order, or on the batches; and its
// log-probabilities are those of the whole target at once. For every kind of state that a decoder can have.
#include <omp.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/model/search/score.h"
#include "heed/model/search/strategies.h"
#include "tests/model/search/found.h"
#include "tests/threads.h"

namespace heed::search::test {
namespace {

class Ways : public testing::TestWithParam<Way> {
 protected:
  Ways() : made_(GetParam().options()) {}
  const model::Seq2Seq& model() const { return made_.model; }

  const Decided made_;
  const Texts texts_{ragged_sources()};
};

std::vector<std::pair<std::string, Options>> searches() {
  const Options common{.longest = 8, .alignment = true};
  Options beam = common, sample = common;
  beam.beam = beam.nbest = 4;
  beam.alpha = 0.6;
  beam.beta = 0.1;
  sample.sample = true;
  sample.nbest = 3;
  sample.seed = 9;
  return {{"greedy", common}, {"beam", beam}, {"sample", sample}};
}

TEST_P(Ways, DoNotDependOnBatchMates) {
  for (const auto& [name, options] : searches()) {
    SCOPED_TRACE(name);
    const std::vector<Result> together = find(model(), texts_, options);
    const std::vector<int64_t> order = {4, 1, 3, 0, 2};
    const std::vector<Result> mixed = find(model(), Texts(texts_.texts, order), options);
    for (size_t i = 0; i < order.size(); ++i) {
      SCOPED_TRACE("sentence " + std::to_string(order[i]));
      const Result& right = together[static_cast<size_t>(order[i])];
      ASSERT_NO_FATAL_FAILURE(expect_same(mixed[i], right));
      ASSERT_NO_FATAL_FAILURE(expect_same(find(model(), Texts(texts_.texts, {order[i]}), options)[0], right));
    }
  }
}

TEST_P(Ways, StepsAreWhatTheWholeTargetGives) {
  for (const auto& [name, options] : searches()) {
    SCOPED_TRACE(name);
    const std::vector<Result> found = find(model(), texts_, options);
    for (size_t b = 0; b < found.size(); ++b)
      for (const Hypothesis& h : found[b].hypotheses) {
        model::test::Batch batch(model::test::Sentences{{texts_.texts[b]}, {h.tokens}});
        Tape tape(kQuiet);
        const Scored right = score(model(), tape, batch).front();
        double sum = 0.0;
        ASSERT_EQ(h.token_log_probabilities.size(), h.tokens.size() + (h.finished ? 1 : 0));
        for (size_t t = 0; t < h.token_log_probabilities.size(); ++t) {
          ASSERT_NEAR(h.token_log_probabilities[t], right.token_log_probabilities[t], 1e-5) << "step " << t;
          sum += right.token_log_probabilities[t];
        }
        ASSERT_NEAR(h.log_probability, sum, 2e-5);
        if (h.finished) {
          ASSERT_NEAR(h.log_probability, right.log_probability, 2e-5);
        }
      }
  }
}

TEST_P(Ways, AreListedInOrderAndOnce) {
  const std::vector<Result> found = find(model(), texts_, searches()[1].second);
  for (const Result& r : found) {
    ASSERT_EQ(r.hypotheses.size(), 4u);
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = i + 1; j < 4; ++j) {
        const Hypothesis &a = r.hypotheses[i], &b = r.hypotheses[j];
        EXPECT_GE(a.finished, b.finished);
        if (a.finished == b.finished) {
          EXPECT_GE(a.score, b.score);
        }
        EXPECT_FALSE(a.tokens == b.tokens && a.finished == b.finished);
      }
  }
}

TEST_P(Ways, ABeamOfOneIsGreedy) {
  const Options options{.longest = 8, .alignment = true};
  const Input sources = texts_.view();
  Tape tape(kQuiet);
  Stepper stepper(model(), tape, sources, options);
  const std::vector<Result> beam = beam_search(stepper), greedy = find(model(), texts_, options);
  for (size_t b = 0; b < beam.size(); ++b) ASSERT_NO_FATAL_FAILURE(expect_same(beam[b], greedy[b], 1e-6));
}

INSTANTIATE_TEST_SUITE_P(, Ways, testing::ValuesIn(ways()), model::test::name_of_way);

// ----------------------------------------------------------------------------------------------------------- batches

TEST(Batches, GiveResultsInTheOrderOfTheInput) {
  const Decided made(model::test::small("transformer"));
  const Texts texts(
      model::test::random_sentences({{3, 0}, {6, 0}, {0, 0}, {1, 0}, {6, 0}, {2, 0}, {4, 0}, {8, 0}, {5, 0}, {0, 0}}, 4)
          .sources);
  for (const auto& [name, options] : searches()) {
    SCOPED_TRACE(name);
    const std::vector<Result> right = find(made.model, texts, options);
    for (const BatchLimits limits : {BatchLimits{.tokens = 7}, {.tokens = 12, .sentences = 2}, {.tokens = 1}, {}}) {
      SCOPED_TRACE(limits.tokens);
      TapePool tapes;
      const std::vector<Result> found = search_all(made.model, tapes, texts.view(), options, limits);
      ASSERT_EQ(found.size(), right.size());
      for (size_t b = 0; b < found.size(); ++b) ASSERT_NO_FATAL_FAILURE(expect_same(found[b], right[b]));
    }
  }
}

/// Sentences enough for several batches and threads.
Texts many_texts() {
  std::vector<std::pair<int, int>> lengths;
  lengths.reserve(24);
  for (int i = 0; i < 24; ++i) lengths.push_back({1 + i * 7 % 9, 0});
  return Texts(model::test::random_sentences(lengths, 6).sources);
}

TEST(Batches, NumberOfThreadsChangesNoBit) {
  const Decided made(model::test::small("transformer"));
  const Texts texts = many_texts();
  for (const auto& [name, chosen] : searches()) {
    SCOPED_TRACE(name);
    TapePool tapes;
    const auto on = [&, options = chosen](int threads) {
      const heed::test::Threads guard(threads);
      std::vector<Result> found = search_all(made.model, tapes, texts.view(), options, {.tokens = 20});
      EXPECT_EQ(omp_get_max_threads(), threads);
      return found;
    };
    const std::vector<Result> right = on(1);
    for (const int threads : {2, 3, 8}) {
      const std::vector<Result> found = on(threads);
      ASSERT_EQ(found.size(), right.size());
      for (size_t b = 0; b < found.size(); ++b) ASSERT_NO_FATAL_FAILURE(expect_same(found[b], right[b], 0.0));
    }
  }
}

TEST(Batches, ErrorOfOneIsToldAndNothingIsStuck) {
  Decided made(model::test::small("transformer"));
  const Texts texts = many_texts();
  for (Parameter& p : made.parameters)
    if (p.name == "source.weight")  // the last token of the last sentence
      std::fill_n(p.value.begin() + texts.sources.tokens.values().back() * p.cols(), p.cols(),
                  std::numeric_limits<float>::quiet_NaN());
  TapePool tapes;
  {
    const heed::test::Threads three(3);
    EXPECT_THROW(search_all(made.model, tapes, texts.view(), {.longest = 8}, {.tokens = 20}), Error);
  }
  const Decided whole(model::test::small("transformer"));
  EXPECT_EQ(search_all(whole.model, tapes, texts.view(), {.longest = 8}, {.tokens = 20}).size(), 24u);
}

TEST(Batches, ScoreIsPerSentence) {
  const Decided made(model::test::small("rnn"));
  const auto all = model::test::ragged();
  Tape tape(kQuiet);
  const std::vector<Scored> together = score(made.model, tape, model::test::Batch(all));
  ASSERT_EQ(together.size(), all.size());
  for (size_t b = 0; b < all.size(); ++b) {
    const Scored alone = score(made.model, tape, model::test::Batch(all.only(b))).front();
    EXPECT_NEAR(alone.log_probability, together[b].log_probability, 1e-5);
    EXPECT_EQ(together[b].token_log_probabilities.size(), all.targets[b].size() + 1);
  }
}

}  // namespace
}  // namespace heed::search::test
