// Options::on_token: what is told while a search writes, and that telling changes nothing.
#include <map>

#include "tests/model/search/enumeration.h"
#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

using Tokens = std::vector<int32_t>;
using Told = std::map<int64_t, std::vector<Tokens>>;  // by the number of the sentence

/// Records what is told from here on.
void listen(Options& options, Told& told) {
  options.on_token = [&told](int64_t number, std::span<const int32_t> tokens) {
    told[number].emplace_back(tokens.begin(), tokens.end());
  };
}

/// Searches with and without a listener: the same bits. What was told ends with the best hypothesis.
Told told_by(const model::Generator& generator, const Texts& texts, Options options) {
  Tape tape(kQuiet);
  const std::vector<Result> right = search(generator, tape, texts.view(), options);
  Told told;
  listen(options, told);
  const std::vector<Result> found = search(generator, tape, texts.view(), options);
  for (size_t b = 0; b < right.size(); ++b) {
    SCOPED_TRACE("sentence " + std::to_string(b));
    expect_same(found[b], right[b], 0.0);
    const int64_t number = texts.numbers[b];
    EXPECT_EQ(told.contains(number) ? told[number].back() : Tokens{}, right[b].best().tokens);
  }
  return told;
}

TEST(OnToken, OnePathGrowsTokenByToken) {
  for (const char* kind : {"rnn", "transformer"}) {
    Decided made(model::test::small(kind));
    made.favour(kEnd, -2.0f);
    const Texts texts(ragged_sources(), {4, 2, 0, 3, 1});
    for (const Options& o : {Options{.longest = 9}, Options{.longest = 9, .sample = true, .seed = 3},
                             Options{.longest = 9, .sample = true, .distinct = true, .seed = 3}}) {
      const Told told = told_by(made.model, texts, o);
      EXPECT_GE(told.size(), 4u);
      for (const auto& [number, all] : told)
        for (size_t t = 0; t < all.size(); ++t) {
          ASSERT_EQ(all[t].size(), t + 1);
          EXPECT_TRUE(t == 0 || std::equal(all[t - 1].begin(), all[t - 1].end(), all[t].begin()));
        }
    }
  }
}

TEST(OnToken, ABeamEndsWithItsBest) {
  bool shrank = false;
  for (const char* kind : {"rnn", "transformer"})
    for (const float favour : {0.0f, 2.0f}) {
      Decided made(model::test::small(kind));
      made.favour(kEnd, favour);
      const Texts texts(ragged_sources());
      for (const Options& o : {Options{.longest = 9, .beam = 4}, Options{.longest = 9, .beam = 4, .nbest = 3},
                               Options{.longest = 9, .beam = 5, .alpha = 0.8, .beta = 0.2},
                               Options{.longest = 9, .beam = 6, .nbest = 2, .groups = 3},
                               Options{.longest = 3, .beam = 3, .alignment = true}})
        for (const auto& [number, all] : told_by(made.model, texts, o))
          for (size_t t = 1; t < all.size(); ++t) {
            EXPECT_NE(all[t], all[t - 1]);
            shrank |= all[t].size() < all[t - 1].size();
          }
    }
  EXPECT_TRUE(shrank);  // another one took the lead
}

/// After every step: the likeliest of all that could have been said by then.
TEST(OnToken, TheLeaderOfABeamIsTheLikeliest) {
  constexpr int64_t kSteps = 4;
  size_t changes = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const FixedGenerator generator(4, seed);
    const Texts texts({{5, 6}, {7}});
    const Told told = told_by(generator, texts, {.longest = kSteps, .beam = 200});
    for (size_t b = 0; b < 2; ++b) {
      std::vector<Tokens> right;
      Tokens before;
      for (int64_t t = 1; t <= kSteps; ++t) {
        std::vector<Hypothesis> all = everything(generator, texts.texts[b], t);
        std::stable_sort(all.begin(), all.end(), [&](const Hypothesis& x, const Hypothesis& y) {
          if (t == kSteps && x.finished != y.finished) return x.finished;  // then that counts first
          return x.log_probability > y.log_probability;
        });
        if (all.front().tokens != before) right.push_back(all.front().tokens);
        before = all.front().tokens;
      }
      const auto got = told.find(static_cast<int64_t>(b));
      EXPECT_EQ(got == told.end() ? std::vector<Tokens>{} : got->second, right) << seed << ", " << b;
      changes += right.size();
    }
  }
  EXPECT_GT(changes, 20u);
}

TEST(OnToken, SeveralSamplesHaveNoLeader) {
  const Decided made(model::test::small("rnn"));
  Told told;
  Options options{.nbest = 2, .sample = true};
  listen(options, told);
  EXPECT_THROW(find(made.model, Texts(ragged_sources()), options), Error);
}

}  // namespace
}  // namespace heed::search::test
