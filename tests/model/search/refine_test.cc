// Refinement against a plain one that goes through one draft at a time.
#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/model/search/batches.h"
#include "heed/model/search/search.h"
#include "tests/model/parallel.h"
#include "tests/model/search/found.h"
#include "tests/threads.h"

namespace heed::search::test {
namespace {

using model::kBlank;
using model::test::LogProbs;
using model::test::MadeParallel;
using model::test::one_draft;
using model::test::parallel_ways;
using model::test::ParallelWay;

/// Random weights give nearly equal probabilities; larger ones make a model that prefers something.
struct DecidedParallel : MadeParallel {
  explicit DecidedParallel(const model::Options& options) : MadeParallel(options) {
    for (Parameter& p : parameters)
      if (p.name.starts_with("output.weight") || p.name.starts_with("length.") || p.name == "target.blank")
        for (float& value : p.value) value *= 3.0f;
  }
};

class Refined : public testing::TestWithParam<ParallelWay> {
 protected:
  Refined() : made_(GetParam().options()) {}
  const model::ParallelModel& model() const { return made_.model; }
  Options options(int64_t iterations, int64_t lengths = 3) const {
    Options o{.longest = 8, .alignment = true};
    o.iterations = iterations;
    o.lengths = o.nbest = model().slots() > 0 ? 1 : lengths;
    return o;
  }
  std::vector<Result> find(const Texts& texts, const Options& o) const {
    Tape tape(kQuiet);
    return search(model(), tape, texts.view(), o);
  }

  const DecidedParallel made_;
  const Texts texts_{ragged_sources()};
};

INSTANTIATE_TEST_SUITE_P(, Refined, testing::ValuesIn(parallel_ways()), model::test::name_of_parallel_way);

/// The positions of the `count` smallest, the first ones in a tie.
std::vector<size_t> least(const std::vector<double>& values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  order.resize(count);
  return order;
}

/// One draft, refined as the paper has it. `slots`: cut at END.
Hypothesis plain_refinement(const model::ParallelModel& model, const std::vector<int32_t>& source, size_t length,
                            int64_t iterations) {
  const bool slots = model.slots() > 0;
  std::vector<int32_t> tokens(length, kBlank);
  std::vector<double> certain(length, 0.0);
  size_t count = length;
  for (int64_t t = 0; t < iterations; ++t) {
    const auto blanks = static_cast<size_t>(static_cast<int64_t>(count) * (iterations - t) / iterations);
    std::vector<bool> asked(length, false);
    for (const size_t at : least({certain.begin(), certain.begin() + static_cast<ptrdiff_t>(count)}, blanks))
      asked[at] = true;
    if (slots && asked[count - 1]) std::fill(asked.begin() + static_cast<ptrdiff_t>(count), asked.end(), true);
    for (size_t at = 0; at < length; ++at)
      if (asked[at]) tokens[at] = kBlank;
    const LogProbs probs = one_draft(model, source, tokens);
    for (size_t at = 0; at < length; ++at) {
      if (!asked[at]) continue;
      int32_t best = -1;
      for (int32_t v = 0; v < kVocabulary; ++v) {
        if (!slots && v == kEnd) continue;
        if (best < 0 || probs[at][static_cast<size_t>(v)] > probs[at][static_cast<size_t>(best)]) best = v;
      }
      tokens[at] = best;
      certain[at] = probs[at][static_cast<size_t>(best)];
    }
    if (slots) {
      const auto end = static_cast<size_t>(std::find(tokens.begin(), tokens.end(), kEnd) - tokens.begin());
      count = std::min(end + 1, length);
      for (size_t at = end; at < length; ++at) tokens[at] = kEnd;
    }
  }
  Hypothesis h;
  h.tokens.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count));
  for (size_t at = 0; at < count; ++at) {
    h.token_log_probabilities.push_back(static_cast<float>(certain[at]));
    h.log_probability += certain[at];
  }
  h.finished = !slots || (count > 0 && h.tokens.back() == kEnd);
  if (slots && h.finished) h.tokens.pop_back();
  if (!slots) {
    Tape tape(kQuiet);
    const double log_p = model.read(tape, data::Sources::of(source)).lengths.front()[length];
    h.token_log_probabilities.push_back(static_cast<float>(log_p));
    h.log_probability += log_p;
  }
  h.score = h.log_probability / static_cast<double>(h.token_log_probabilities.size());
  return h;
}

std::vector<Hypothesis> plain_search(const model::ParallelModel& model, const std::vector<int32_t>& source,
                                     const Options& o) {
  if (model.slots() > 0)
    return {plain_refinement(model, source, static_cast<size_t>(std::min(model.slots(), o.longest)), o.iterations)};
  Tape tape(kQuiet);
  std::vector<double> lengths = model.read(tape, data::Sources::of(source)).lengths.front();
  const auto likeliest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  if (likeliest >= o.longest)  // none of those that fit is near it: the longest
    for (int64_t n = 0; n < std::ssize(lengths); ++n)
      lengths[static_cast<size_t>(n)] = static_cast<double>(n < o.longest ? n : -1);
  lengths.resize(static_cast<size_t>(o.longest));
  for (double& value : lengths) value = -value;
  std::vector<Hypothesis> all;
  for (const size_t length : least(lengths, static_cast<size_t>(o.lengths)))
    all.push_back(plain_refinement(model, source, length, o.iterations));
  std::stable_sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

TEST_P(Refined, IsWhatAPlainRefinementFinds) {
  for (const int64_t iterations : {1, 2, 3, 4, 10}) {
    SCOPED_TRACE("iterations " + std::to_string(iterations));
    Options o = options(iterations);
    o.alignment = false;
    const std::vector<Result> found = find(texts_, o);
    for (size_t b = 0; b < found.size(); ++b) {
      SCOPED_TRACE("sentence " + std::to_string(b));
      ASSERT_NO_FATAL_FAILURE(expect_same(found[b], Result{plain_search(model(), texts_.texts[b], o)}));
    }
  }
}

/// The caller says how long outputs are: none is cut, and no length counts in the score.
TEST_P(Refined, HasTheLengthThatIsAskedFor) {
  for (const int64_t length : {1, 4, 6}) {
    Options o = options(3);
    o.lengths = o.nbest = 1;
    o.given_length = length;
    for (const Result& result : find(texts_, o)) {
      ASSERT_EQ(result.hypotheses.size(), 1u);
      const Hypothesis& h = result.best();
      ASSERT_EQ(std::ssize(h.tokens), length);
      EXPECT_TRUE(h.finished);
      EXPECT_EQ(std::count(h.tokens.begin(), h.tokens.end(), kEnd), 0);
      ASSERT_EQ(std::ssize(h.token_log_probabilities), length);
      double sum = 0.0;
      for (const float p : h.token_log_probabilities) sum += p;
      EXPECT_NEAR(h.log_probability, sum, 1e-4);
      EXPECT_NEAR(h.score, sum / static_cast<double>(length), 1e-4);
    }
  }
}

TEST_P(Refined, HasTheLikeliestLengthTimesAFactor) {
  if (model().slots() > 0) return;
  for (const double factor : {0.5, 1.0, 1.4}) {
    Options o = options(2);
    o.lengths = o.nbest = 1;
    o.longest = 100;
    o.length_factor = factor;
    const std::vector<Result> found = find(texts_, o);
    for (size_t b = 0; b < found.size(); ++b) {
      Tape tape(kQuiet);
      const std::vector<double> all = model().read(tape, data::Sources::of(texts_.texts[b])).lengths.front();
      const auto likeliest = std::max_element(all.begin(), all.end()) - all.begin();
      const int64_t wanted = std::max<int64_t>(std::llround(factor * static_cast<double>(likeliest)), 1);
      EXPECT_EQ(std::ssize(found[b].best().tokens), wanted);
    }
  }
}

/// A limit below the likeliest length gives the longest outputs within it, not an empty one.
TEST_P(Refined, FillsALimitThatIsTooShort) {
  if (model().slots() > 0) return;
  for (size_t b = 0; b < texts_.texts.size(); ++b) {
    Tape tape(kQuiet);
    const std::vector<double> all = model().read(tape, data::Sources::of(texts_.texts[b])).lengths.front();
    const auto likeliest = std::max_element(all.begin(), all.end()) - all.begin();
    for (int64_t longest = 2; longest <= likeliest; ++longest) {
      Options o = options(2);
      o.lengths = 2, o.nbest = 2, o.longest = longest;
      const Result result = find(texts_, o)[b];
      std::vector<int64_t> lengths;
      for (const Hypothesis& h : result.hypotheses) lengths.push_back(std::ssize(h.tokens));
      std::sort(lengths.begin(), lengths.end());
      EXPECT_EQ(lengths.back(), longest - 1);
      EXPECT_GT(lengths.front(), 0);
    }
  }
}

TEST_P(Refined, DoesNotDependOnBatchMates) {
  const Options o = options(3);
  const std::vector<Result> together = find(texts_, o);
  const std::vector<int64_t> order = {4, 1, 3, 0, 2};
  const std::vector<Result> mixed = find(Texts(texts_.texts, order), o);
  for (size_t i = 0; i < order.size(); ++i) {
    SCOPED_TRACE("sentence " + std::to_string(order[i]));
    const Result& right = together[static_cast<size_t>(order[i])];
    ASSERT_NO_FATAL_FAILURE(expect_same(mixed[i], right));
    ASSERT_NO_FATAL_FAILURE(expect_same(find(Texts(texts_.texts, {order[i]}), o)[0], right));
  }
}

TEST_P(Refined, BatchesAndThreadsChangeNothing) {
  const Options o = options(2);
  const std::vector<Result> right = find(texts_, o);
  for (const int threads : {1, 3})
    for (const int64_t tokens : {1, 9, 1000}) {
      const heed::test::Threads some(threads);
      TapePool tapes;
      const std::vector<Result> found = search_all(model(), tapes, texts_.view(), o, {.tokens = tokens});
      for (size_t b = 0; b < right.size(); ++b) ASSERT_NO_FATAL_FAILURE(expect_same(found[b], right[b]));
    }
}

TEST_P(Refined, AlignmentsAreWeights) {
  for (const Result& r : find(texts_, options(3)))
    for (const Hypothesis& h : r.hypotheses) {
      ASSERT_GE(h.alignment.size(), h.tokens.size());
      for (const std::vector<float>& row : h.alignment) {
        double sum = 0.0;
        for (const float w : row) sum += w;
        EXPECT_NEAR(sum, 1.0, 1e-4);
      }
    }
}

TEST_P(Refined, OutputsAreNotLongerThanAsked) {
  for (const int64_t longest : {1, 2, 5}) {
    Options o = options(2, 1);
    o.longest = longest;
    for (const Result& r : find(texts_, o)) EXPECT_LE(std::ssize(r.best().token_log_probabilities), longest);
  }
}

/// After each pass the draft that leads, at last the output; and telling changes nothing.
TEST_P(Refined, DraftsAreToldAfterEachPass) {
  Options o = options(4);
  const std::vector<Result> right = find(texts_, o);
  std::vector<std::vector<std::vector<int32_t>>> told(right.size());
  o.on_token = [&](int64_t number, std::span<const int32_t> tokens) {
    told[static_cast<size_t>(number)].emplace_back(tokens.begin(), tokens.end());
  };
  const std::vector<Result> found = find(texts_, o);
  o.iterations = 1;
  o.on_token = {};
  const std::vector<Result> first = find(texts_, o);
  for (size_t b = 0; b < right.size(); ++b) {
    expect_same(found[b], right[b], 0.0);
    if (told[b].empty()) {
      EXPECT_TRUE(right[b].best().tokens.empty());
      continue;
    }
    EXPECT_LE(told[b].size(), 4u);
    EXPECT_EQ(told[b].back(), right[b].best().tokens);
    EXPECT_TRUE(first[b].best().tokens.empty() || told[b].front() == first[b].best().tokens);
  }
}

TEST(Refinement, LaterPassesKnowTheTokensThatStayed) {
  const DecidedParallel made(ParallelWay{"plain"}.options());
  Options once{.longest = 8}, more = once;
  once.iterations = 1, more.iterations = 4;
  once.lengths = more.lengths = 1;
  const Texts texts(ragged_sources());
  Tape tape(kQuiet);
  const std::vector<Result> first = search(made.model, tape, texts.view(), once);
  const std::vector<Result> refined = search(made.model, tape, texts.view(), more);
  for (size_t b = 0; b < first.size(); ++b) {
    if (first[b].best().tokens.size() < 2) continue;
    EXPECT_GT(std::abs(first[b].best().log_probability - refined[b].best().log_probability), 1e-4) << b;
  }
}

TEST(Refinement, AnEmptySourceHasAnEmptyOutput) {
  const DecidedParallel made(ParallelWay{"plain"}.options());
  Tape tape(kQuiet);
  const Texts texts({{4, 5}, {}, {6}});
  const std::vector<Result> found = search(made.model, tape, texts.view(), {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[1].best().tokens.empty() && found[1].best().finished);
  EXPECT_FALSE(found[0].hypotheses.empty());
}

TEST(Refinement, RefusesOptionsOfOtherSearches) {
  const DecidedParallel made(ParallelWay{"plain"}.options());
  const Texts texts(ragged_sources());
  Tape tape(kQuiet);
  for (const auto& change : std::vector<std::function<void(Options&)>>{
           [](Options& o) { o.beam = 2; }, [](Options& o) { o.sample = true; }, [](Options& o) { o.iterations = 0; },
           [](Options& o) { o.lengths = 0; }, [](Options& o) { o.nbest = 4; }, [](Options& o) { o.longest = 0; }}) {
    Options o;
    change(o);
    EXPECT_THROW(search(made.model, tape, texts.view(), o), Error);
  }
}

}  // namespace
}  // namespace heed::search::test
