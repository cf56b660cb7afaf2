// Tokens that come in no output: no search chooses or draws them, and the others keep the model's probabilities.
#include <map>
#include <string>

#include "heed/base/error.h"
#include "heed/model/search/ensemble.h"
#include "heed/model/search/score.h"
#include "tests/model/parallel.h"
#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

const std::vector<int32_t> kNever = {0, kStart};

bool has_never(const std::vector<int32_t>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](int32_t token) { return std::find(kNever.begin(), kNever.end(), token) != kNever.end(); });
}

std::vector<std::pair<std::string, Options>> every_search() {
  std::vector<std::pair<std::string, Options>> all = {
      {"greedy", {}},
      {"beam", {.beam = 6, .nbest = 6}},
      {"mean score", {.beam = 6, .nbest = 6, .length = LengthNormalisation::mean}},
      {"groups", {.beam = 6, .nbest = 4, .groups = 3}},
      {"no n-gram twice", {.beam = 4, .nbest = 4, .no_repeat_ngram = 2}},
      {"greedy, no n-gram twice", {.no_repeat_ngram = 1}},
      {"sample", {.nbest = 20, .sample = true}},
      {"hot sample", {.nbest = 20, .sample = true, .temperature = 5.0}},
      {"top k", {.nbest = 20, .sample = true, .top_k = 3}},
      {"top p", {.nbest = 20, .sample = true, .top_p = 0.8}},
      {"distinct", {.nbest = 20, .sample = true, .distinct = true}},
      {"sample, no n-gram twice", {.nbest = 20, .sample = true, .no_repeat_ngram = 2}},
  };
  for (auto& [name, o] : all) {
    o.longest = 6;
    o.seed = 3;
  }
  return all;
}

/// Log-probabilities as the model has them: what `heed score` says of the same tokens.
void expect_own_probabilities(const model::Generator& generator, const Texts& texts, size_t b, const Hypothesis& h) {
  std::vector<int32_t> target = h.tokens;
  if (h.finished) target.push_back(kEnd);
  Tape tape(kQuiet);
  const std::vector<int64_t> number = {static_cast<int64_t>(b)};
  const data::Sources one = texts.sources.pack(number);
  const Scored right = score_by_steps(generator, tape, {.sources = one}, std::span(&target, 1), kStart).front();
  EXPECT_NEAR(h.log_probability, right.log_probability, 1e-5);
}

void expect_none(const model::Generator& generator, const Texts& texts) {
  bool came_before = false;
  for (auto [name, o] : every_search()) {
    SCOPED_TRACE(name);
    Tape tape(kQuiet);
    for (const Result& r : search(generator, tape, texts.view(), o))
      for (const Hypothesis& h : r.hypotheses) came_before |= has_never(h.tokens);
    o.never = kNever;
    const std::vector<Result> found = search(generator, tape, texts.view(), o);
    for (size_t b = 0; b < found.size(); ++b)
      for (const Hypothesis& h : found[b].hypotheses) {
        EXPECT_FALSE(has_never(h.tokens)) << b;
        expect_own_probabilities(generator, texts, b, h);
      }
  }
  EXPECT_TRUE(came_before) << "a model that never writes them shows nothing";
}

TEST(Never, ComesInNoSearch) {
  const Texts texts({{5}, {6, 7}, {8, 9, 10}});
  expect_none(FixedGenerator(6, 31), texts);
}

TEST(Never, ComesInNoEnsemble) {
  const FixedGenerator a(6, 32), b(6, 33);
  const std::vector<std::vector<int32_t>> sources = {{5}, {6, 7}};
  for (const Mean mean : {Mean::log_probabilities, Mean::probabilities}) {
    const Ensemble ensemble({&a, &b}, mean, true);
    Texts texts(sources);
    texts.sources.others.push_back(texts.sources);
    expect_none(ensemble, texts);
  }
}

/// Models whose mind is made up for what may not come.
TEST(Never, ComesNotEvenWhereItIsTheLikeliest) {
  for (const char* kind : {"rnn", "transformer"}) {
    Decided made(model::test::small(kind));
    made.favour(kStart, 8.0f);
    made.favour(0, 6.0f);
    expect_none(made.model, Texts(ragged_sources()));
  }
}

/// With a beam that leaves nothing out: all outputs without these tokens, each with the model's own probability.
TEST(Never, TheRestIsSearchedInFull) {
  const FixedGenerator generator(5, 34);
  const std::vector<int32_t> source = {5};
  std::vector<Hypothesis> right;
  for (const Hypothesis& h : everything(generator, source, 4))
    if (!has_never(h.tokens)) right.push_back(h);
  std::stable_sort(right.begin(), right.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  const Texts texts(std::vector<std::vector<int32_t>>{source});
  Tape tape(kQuiet);
  const auto found = [&](const Options& o) { return search(generator, tape, texts.view(), o).front(); };
  expect_same(found({.never = kNever, .longest = 4, .beam = 100, .nbest = 100}), Result{right});
  expect_same(found({.never = kNever, .longest = 4, .nbest = 100, .sample = true, .distinct = true}), Result{right});
}

/// A token is drawn as often as its share of what may come.
TEST(Never, TheOthersShareAllTheProbability) {
  const FixedGenerator generator(6, 35);
  const std::vector<int32_t> source = {5};
  const std::vector<double> log_p = log_probabilities(generator.logits_after(source, {}));
  double sum = 0.0;
  for (int32_t v = 2; v < 6; ++v) sum += std::exp(log_p[static_cast<size_t>(v)]);
  constexpr int64_t kDraws = 40'000;
  const Texts texts(std::vector<std::vector<int32_t>>(kDraws, source));
  Tape tape(kQuiet);
  for (const bool distinct : {false, true}) {
    std::map<int32_t, int64_t> counts;
    const Options o{.never = kNever, .longest = 1, .sample = true, .distinct = distinct};
    for (const Result& r : search(generator, tape, texts.view(), o))
      ++counts[r.best().finished ? kEnd : r.best().tokens.front()];
    for (int32_t v = 0; v < 6; ++v) {
      const double wanted = v < 2 ? 0.0 : std::exp(log_p[static_cast<size_t>(v)]) / sum;
      // Five standard deviations.
      EXPECT_NEAR(static_cast<double>(counts[v]) / kDraws, wanted, 5.0 * std::sqrt(wanted * (1.0 - wanted) / kDraws))
          << v;
    }
  }
}

TEST(Never, AndRulesAreKeptTogether) {
  const FixedGenerator generator(6, 36);
  const Texts texts(std::vector<std::vector<int32_t>>{{5}});
  const Rules must{.must = Phrases({{3, 4}}),
                   .must_not = std::make_shared<Phrases>(std::vector<std::vector<int32_t>>{{5}})};
  const Rules* rules = &must;
  Input sources = texts.view();
  sources.rules = {&rules, 1};
  Tape tape(kQuiet);
  const Result r = search(generator, tape, sources, {.never = kNever, .longest = 8, .beam = 6, .nbest = 6}).front();
  for (const Hypothesis& h : r.hypotheses) {
    EXPECT_FALSE(has_never(h.tokens));
    EXPECT_FALSE(contains(h.tokens, {5}));
    EXPECT_TRUE(!h.finished || contains(h.tokens, {3, 4}));
  }
}

TEST(Never, ComesInNoRefinement) {
  for (const model::test::ParallelWay& way : model::test::parallel_ways()) {
    SCOPED_TRACE(way.name);
    model::test::MadeParallel made(way.options());
    for (Parameter& p : made.parameters)
      if (p.name == "output.bias") p.value[0] += 6.0f, p.value[kStart] += 8.0f;
    const Texts texts(ragged_sources());
    Tape tape(kQuiet);
    Options o{.longest = 8};
    const auto writes_them = [&] {
      bool any = false;
      for (const Result& r : search(made.model, tape, texts.view(), o)) any |= has_never(r.best().tokens);
      return any;
    };
    EXPECT_TRUE(writes_them());
    o.never = kNever;
    EXPECT_FALSE(writes_them());
  }
}

TEST(Never, RefusesWhatCannotBe) {
  const FixedGenerator generator(6, 37);
  const Texts texts(std::vector<std::vector<int32_t>>{{5}});
  Tape tape(kQuiet);
  EXPECT_THROW(search(generator, tape, texts.view(), {.never = {kEnd}}), Error);
  EXPECT_THROW(search(generator, tape, texts.view(), {.never = {-1}}), Error);
  const Rules begins{.prefix = {3, kStart}};
  const Rules* rules = &begins;
  Input sources = texts.view();
  sources.rules = {&rules, 1};
  EXPECT_THROW(search(generator, tape, sources, {.never = kNever}), Error);
}

}  // namespace
}  // namespace heed::search::test
