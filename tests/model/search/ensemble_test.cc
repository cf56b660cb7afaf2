// Several models that write together.
#include "heed/model/search/ensemble.h"

#include "heed/base/error.h"
#include "heed/model/search/score.h"
#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

using Tokens = std::vector<int32_t>;

/// The sources of the first model, and those of the others.
data::Sources sources_of_models(const std::vector<std::vector<Tokens>>& of_models) {
  data::Sources sources = model::test::sources_of(of_models[0]);
  for (size_t m = 1; m < of_models.size(); ++m) sources.others.push_back(model::test::sources_of(of_models[m]));
  return sources;
}

std::vector<Result> find_with(const Ensemble& ensemble, const std::vector<std::vector<Tokens>>& sources,
                              const Options& o) {
  const data::Sources packed = sources_of_models(sources);
  Tape tape(kQuiet);
  return search(ensemble, tape, {.sources = packed}, o);
}

std::vector<Options> ways_to_search() {
  return {{.longest = 8, .alignment = true},
          {.longest = 8, .beam = 4, .nbest = 3, .alpha = 0.6, .alignment = true},
          {.longest = 8, .nbest = 3, .sample = true, .alignment = true},
          {.longest = 8, .nbest = 3, .sample = true, .distinct = true}};
}

TEST(Ensemble, OfOneAndOfEqualsIsTheModel) {
  for (const char* kind : {"rnn", "transformer"}) {
    const Decided made(model::test::small(kind));
    const Texts texts(ragged_sources());
    for (const Options& o : ways_to_search()) {
      const std::vector<Result> right = find(made.model, texts, o);
      for (const Mean mean : {Mean::log_probabilities, Mean::probabilities})
        for (const size_t times : {1, 2, 3}) {
          const std::vector<const model::Generator*> models(times, &made.model);
          const std::vector<Result> found = find_with(Ensemble(models, mean, true), {times, texts.texts}, o);
          for (size_t b = 0; b < right.size(); ++b)
            expect_same(found[b], right[b], times == 3 ? 1e-5 : (o.alignment ? 1e-6 : 0.0));
        }
    }
  }
}

/// The mean of the probabilities of every token, in double.
TEST(Ensemble, IsTheMeanOfItsModels) {
  const FixedGenerator a(4, 21), b(4, 22), c(4, 23);
  const std::vector<Tokens> of_a = {{5, 6}}, of_b = {{7}}, of_c = {{8, 9, 10}};  // each cuts the source in its way
  constexpr int64_t kLongest = 4;
  for (const Mean mean : {Mean::log_probabilities, Mean::probabilities}) {
    std::vector<Hypothesis> all, open = {{}};
    for (int64_t t = 0; t < kLongest; ++t) {
      std::vector<Hypothesis> longer;
      for (const Hypothesis& h : open) {
        const auto p = log_probabilities(a.logits_after(of_a[0], h.tokens)),
                   q = log_probabilities(b.logits_after(of_b[0], h.tokens)),
                   r = log_probabilities(c.logits_after(of_c[0], h.tokens));
        std::vector<double> together;
        double sum = 0.0;
        for (size_t v = 0; v < 4; ++v) {
          together.push_back(mean == Mean::log_probabilities
                                 ? (p[v] + q[v] + r[v]) / 3
                                 : std::log((std::exp(p[v]) + std::exp(q[v]) + std::exp(r[v])) / 3));
          sum += std::exp(together.back());
        }
        for (int32_t v = 0; v < 4; ++v) {
          Hypothesis next = h;
          const double more = together[static_cast<size_t>(v)] - std::log(sum);
          next.score = next.log_probability += more;
          next.token_log_probabilities.push_back(static_cast<float>(more));
          next.finished = v == kEnd;
          if (!next.finished) next.tokens.push_back(v);
          (next.finished ? all : longer).push_back(next);
        }
      }
      open = longer;
    }
    all.insert(all.end(), open.begin(), open.end());
    std::stable_sort(all.begin(), all.end(), [](const Hypothesis& x, const Hypothesis& y) {
      return x.finished != y.finished ? x.finished : x.score > y.score;
    });
    all.resize(30);
    const Ensemble ensemble({&a, &b, &c}, mean, false);
    const auto found = find_with(ensemble, {of_a, of_b, of_c}, {.longest = kLongest, .beam = 200, .nbest = 30});
    expect_same(found[0], Result{all});
  }
}

TEST(Ensemble, OfDifferentKindsSharesItsAlignment) {
  const Decided rnn(model::test::small("rnn")), transformer(model::test::small("transformer"), 9);
  const std::vector<Tokens> sources = ragged_sources();
  const Options o{.longest = 6, .beam = 3, .alignment = true};
  const std::vector<const model::Generator*> models = {&rnn.model, &transformer.model};
  for (const Result& r : find_with(Ensemble(models, Mean::log_probabilities, true), {sources, sources}, o))
    for (const std::vector<float>& row : r.best().alignment) {
      double sum = 0.0;
      for (const float w : row) sum += w;
      EXPECT_NEAR(sum, 1.0, 1e-5);
    }
  // Alone as in a batch.
  const Ensemble ensemble(models, Mean::probabilities, true);
  const std::vector<Result> together = find_with(ensemble, {sources, sources}, o);
  for (size_t b = 0; b < sources.size(); ++b)
    expect_same(together[b], find_with(ensemble, {{sources[b]}, {sources[b]}}, o)[0], 1e-6);
}

TEST(Ensemble, ScoresGivenOutputsStepByStep) {
  const Decided made(model::test::small("transformer"));
  const Texts texts(ragged_sources());
  const std::vector<Tokens> targets = {{3, 4, 5, kEnd}, {6, kEnd}, {kEnd}, {7, 7, kEnd}, {8, 3, 9, 4, kEnd}};
  Tape tape(kQuiet);
  const std::vector<Scored> scored = score_by_steps(made.model, tape, texts.view(), targets, kStart);
  for (size_t b = 0; b < targets.size(); ++b) {
    // A search that is led along the target by a prefix.
    const Rules rules{.prefix = targets[b]};
    const std::vector<const Rules*> of_it = {&rules};
    const Texts one(std::vector<Tokens>{texts.texts[b]});
    Input source = one.view();
    source.rules = of_it;
    const Hypothesis h = search(made.model, tape, source, {.longest = 10})[0].best();
    EXPECT_EQ(h.tokens, Tokens(targets[b].begin(), targets[b].end() - 1));
    EXPECT_NEAR(scored[b].log_probability, h.log_probability, 1e-5);
    ASSERT_EQ(scored[b].token_log_probabilities.size(), targets[b].size());
  }
}

TEST(Ensemble, ThatIsNoneIsRefused) {
  EXPECT_THROW(Ensemble({}, Mean::probabilities, true), Error);
  const FixedGenerator four(4, 1), five(5, 1);
  const Ensemble ensemble({&four, &five}, Mean::probabilities, true);
  EXPECT_THROW(find_with(ensemble, {{{3}}, {{3}}}, {}), Error);
  EXPECT_THROW(find_with(ensemble, {{{3}}}, {}), Error) << "sources for one model only";
}

}  // namespace
}  // namespace heed::search::test
