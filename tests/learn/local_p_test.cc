// slow: 15 s
// local_p looks where it should: the position that it predicts, p_t itself, is compared with the one that the task has.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "heed/model/decode/decoder.h"
#include "heed/model/generator.h"
#include "heed/text/tokens.h"
#include "tests/learn/learner.h"

namespace heed::train::test {
namespace {

constexpr int kShortest = 6, kLongest = 16;
constexpr float kWindow = 8, kSigma = kWindow / 2;  // sigma is half of the window by default

/// Letters, and the same from left to right: the right position of output t is t.
data::Pairs copied(int64_t count, data::Split split) {
  std::mt19937_64 random(split == data::Split::train ? 1 : 2);
  data::Pairs pairs;
  for (int64_t i = 0; i < count; ++i) {
    std::string text;
    const auto length = kShortest + random() % (kLongest - kShortest + 1);
    for (uint64_t c = 0; c < length; ++c) text += static_cast<char>('a' + random() % 26);
    pairs.add(text, text, i + 1);
  }
  return pairs;
}

/// The same from right to left: of a source of S letters, S - 1 - t.
data::Pairs reversed(int64_t count, data::Split split) {
  data::Pairs pairs = copied(count, split);
  for (std::string& target : pairs.target) target.assign(target.rbegin(), target.rend());
  return pairs;
}

/// p_t, from the weights of a query whose scores are all 0: they are a Gaussian around it.
///   log a_(j+1) - log a_j = (p - j - 1/2) / sigma^2
double centre_of(const float* weights, int64_t keys) {
  int64_t best = 0;
  for (int64_t j = 1; j + 1 < keys; ++j)
    if (std::min(weights[j], weights[j + 1]) > std::min(weights[best], weights[best + 1])) best = j;
  const double rise = std::log(static_cast<double>(weights[best + 1])) - std::log(static_cast<double>(weights[best]));
  return static_cast<double>(best) + 0.5 + static_cast<double>(kSigma * kSigma) * rise;
}

/// Mean of |p_t - right position| over all letters of the validation data, with the right letters before each.
double mean_distance(const Learner& learner, bool backwards) {
  // The decoder's states do not depend on its attention, and p_t on nothing but them.
  for (float& v : learner.made().parameters->at("decoder.attention.score.v").value) v = 0.0f;
  const model::Generator& model = *learner.made().model->generator();
  const text::Tokeniser& letters = *learner.made().vocabularies.target;
  double distance = 0;
  int64_t count = 0;
  Tape tape({.recording = false, .training = false});
  const data::References& lines = learner.corpus().references;
  for (size_t i = 0; i < lines.source.size(); ++i) {
    const std::string &source = lines.source[i], &target = lines.targets[i].front();
    const std::vector<int32_t> read = learner.made().vocabularies.source->encode(source);
    const std::vector<int32_t> written = letters.encode(target);
    tape.reset();
    const auto state = model.start(tape, data::Sources::of(read), std::ssize(written) + 1);
    for (int64_t t = 0; t < std::ssize(written); ++t) {
      const int32_t before[] = {t == 0 ? text::kStart : written[static_cast<size_t>(t - 1)]};
      decode::Alignment alignment;
      model.step(before, *state, tape, &alignment);
      const auto keys = static_cast<int64_t>(source.size());
      const double right = static_cast<double>(backwards ? keys - 1 - t : t);
      distance += std::abs(centre_of(alignment.layers[0].at(0, 0, 0), keys) - right);
      ++count;
    }
  }
  return distance / static_cast<double>(count);
}

struct Direction {
  const char* name;
  bool backwards;
};

class LocalP : public testing::TestWithParam<Direction> {};

TEST_P(LocalP, PredictsThePlaceWithinTwoCharacters) {
  const bool backwards = GetParam().backwards;
  Learner learner({.kind = "rnn",
                   .score = "additive",
                   .steps = 1000,
                   .examples = 20000,
                   .more = {"attention.region=local_p", "attention.window=8", "model.width=64",
                            "train.batch_tokens=512", "train.learning_rate=0.005"},
                   .pairs = backwards ? reversed : copied});
  const double untrained = mean_distance(Learner({.kind = "rnn",
                                                  .score = "additive",
                                                  .more = {"attention.region=local_p", "attention.window=8"},
                                                  .pairs = backwards ? reversed : copied}),
                                         backwards);
  learner.train();
  const Evaluation e = learner.test(kLongest + 2);
  const double trained = mean_distance(learner, backwards);
  RecordProperty("untrained", std::to_string(untrained));
  RecordProperty("trained", std::to_string(trained));
  EXPECT_GE(e.exact.rate(), 0.8);
  EXPECT_GT(untrained, 2.5) << "the task is too easy to say anything";
  EXPECT_LE(trained, 2.0);
}

INSTANTIATE_TEST_SUITE_P(, LocalP, testing::Values(Direction{"copy", false}, Direction{"reverse", true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heed::train::test
