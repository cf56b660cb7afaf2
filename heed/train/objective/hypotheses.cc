#include "heed/train/objective/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/sha256.h"
#include "heed/data/copied_words.h"
#include "heed/model/search/batches.h"
#include "heed/model/search/score.h"

namespace heed::objective {

namespace {

std::vector<int32_t> source_of(const data::Batch& batch, int64_t b) {
  const std::span<const int32_t> source = batch.sources.tokens[b];
  return {source.begin(), source.end()};
}

/// What tells a source from others, whatever it is made of.
std::string key_of(const data::Source& source) {
  std::string key;
  const auto add = [&](const auto& part) {
    const auto bytes = std::as_bytes(part);
    key += file::sha256(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  add(source.tokens), add(source.second), add(source.pixels), add(source.numbers);
  return key;
}

/// Words that a model copied, and that the vocabulary lacks, are compared by their numbers.
std::string text_of(std::span<const int32_t> tokens, const text::Tokeniser& target) {
  return data::decode_copied(target, tokens, data::stand_ins(target, tokens));
}

/// With the source of the batch that it belongs to.
void append(const Hypothesis& h, const data::Batch& batch, data::Batch& to) {
  to.sources.add(batch.sources[h.source]);
  to.targets.add_tokens(h.tokens, h.finished ? text::kEnd : -1);  // an end that did not come does not count
}

}  // namespace

std::string refuse_reward(const Options& o, const model::Options& model) {
  if (attend::draws(encode::chosen(model.attention, model.places, encode::kSourcePlace, 0).options))
    return fmt::format(
        "train.objective = \"{}\" cannot be combined with attention.normalise = \"hard_sampled\", which "
        "has a reward of its own",
        o.name);
  return "";
}

HypothesisLearner::HypothesisLearner(const ObjectiveInputs& s)
    : setting_(s), never_(s.vocabularies.target->never_written()) {
  const std::string& name = s.options.name;
  expect(s.model.generator() != nullptr, "{}: the model cannot write outputs token by token", name);
  expect((s.options.reward == "own") == static_cast<bool>(s.reward), "train.reward = \"{}\": {}", s.options.reward,
         s.reward ? "a function for rewards was given too; it needs train.reward = \"own\""
                  : "a function is needed: SessionOptions::reward in C++, heed.train(..., reward=function) in Python");
  reward_ = s.reward ? s.reward : metric_reward(s.options.reward);
  for (int64_t i = 0; i < s.examples.size(); ++i) {
    const data::Batch example = s.examples.pack({&i, 1});
    std::vector<std::string>& all = references_[key_of(example.sources[0])];
    std::string target = text_of(std::span(example.targets.in).subspan(1), *s.vocabularies.target);
    if (std::find(all.begin(), all.end(), target) == all.end()) all.push_back(std::move(target));
  }
}

search::Options HypothesisLearner::samples(uint64_t seed) const {
  return {.nbest = setting_.options.hypotheses, .sample = true, .seed = seed};
}

std::vector<Hypothesis> HypothesisLearner::search(const data::Batch& batch, search::Options options) {
  options.start = text::kStart;
  options.end = text::kEnd;
  options.never = never_;
  // A long output of a source with a short target is wrong whatever follows.
  int64_t longest = 0;
  for (int64_t b = 0; b < batch.targets.size(); ++b) longest = std::max(longest, batch.targets.length(b));
  options.longest = std::min({setting_.longest, setting_.model.max_positions(), 2 * longest + 5});
  const std::vector<search::Result> found =
      search::search_all(*setting_.model.generator(), tapes_, {.sources = batch.sources}, options);
  std::vector<Hypothesis> all;
  for (size_t b = 0; b < found.size(); ++b) {
    const auto first = std::ssize(all);
    for (const search::Hypothesis& h : found[b].hypotheses) {
      const auto same = std::find_if(all.begin() + first, all.end(), [&](const Hypothesis& other) {
        return other.finished == h.finished && other.tokens == h.tokens;
      });
      if (same != all.end())
        ++same->count;
      else
        all.push_back({.source = static_cast<int64_t>(b), .tokens = h.tokens, .finished = h.finished});
    }
  }
  return all;
}

std::vector<Hypothesis> HypothesisLearner::references(const data::Batch& batch) {
  std::vector<Hypothesis> all;
  const data::Targets& right = batch.targets;
  for (int64_t b = 0; b < right.size(); ++b) {
    const auto first = right.in.begin() + right.offsets[static_cast<size_t>(b)];
    all.push_back({.source = b, .tokens = {first + 1, first + right.length(b)}});
  }
  return all;
}

void HypothesisLearner::judge(const data::Batch& batch, std::vector<Hypothesis>& hypotheses) {
  std::vector<RewardCase> cases;
  for (const Hypothesis& h : hypotheses) {
    const std::vector<int32_t> source = source_of(batch, h.source);
    const auto known = references_.find(key_of(batch.sources[h.source]));
    expect(known != references_.end(), ErrorKind::bug, "objective: a source that is not in the training data");
    cases.push_back({setting_.vocabularies.source->decode(source), text_of(h.tokens, *setting_.vocabularies.target),
                     known->second});
  }
  const std::vector<double> rewards = reward_(cases);
  expect(rewards.size() == cases.size(), "the function for rewards returned {} numbers for {} outputs", rewards.size(),
         cases.size());
  for (size_t i = 0; i < rewards.size(); ++i) {
    expect(std::isfinite(rewards[i]), "the function for rewards returned {} for the output '{}' of '{}'", rewards[i],
           cases[i].output, cases[i].source);
    hypotheses[i].reward = rewards[i];
  }
}

template <class Use>
void HypothesisLearner::each_batch(const data::Batch& batch, const std::vector<Hypothesis>& hypotheses,
                                   const Use& use) const {
  for (size_t first = 0; first < hypotheses.size();) {
    data::Batch some;
    some.updates_before = batch.updates_before;
    size_t next = first;
    while (next < hypotheses.size() &&
           std::max(std::ssize(some.sources.tokens.values()), std::ssize(some.targets.in)) < setting_.batch_tokens)
      append(hypotheses[next++], batch, some);
    use(some, first);
    first = next;
  }
}

std::vector<double> HypothesisLearner::log_probabilities(const data::Batch& batch,
                                                         const std::vector<Hypothesis>& hypotheses) {
  std::vector<double> all;
  each_batch(batch, hypotheses, [&](const data::Batch& some, size_t) {
    for (const search::Scored& scored : search::score(setting_.model, plain_, some))
      all.push_back(scored.log_probability);
  });
  return all;
}

PartReport HypothesisLearner::learn(Tape& tape, const data::Batch& batch, const UpdatePart& part,
                                    const RewardedHypotheses& judged) {
  const double share = setting_.options.likelihood_share;
  PartReport report;
  const double of_examples = part.example_share / part.share;  // both parts are means over examples, not over tokens
  if (share > 0)
    report = learn_likelihood(
        setting_.model, tape, batch, part,
        {.label_smoothing = setting_.label_smoothing, .scale = static_cast<float>(share * of_examples)});
  report.loss -= (1.0 - share) * judged.reward;
  report.reward = judged.reward;
  std::vector<Hypothesis> counting;
  for (const Hypothesis& h : judged.hypotheses)
    if (h.weight != 0.0) counting.push_back(h);
  text::Random seeds(part.seed, /*stream=*/0x6c6561726e);
  each_batch(batch, counting, [&](const data::Batch& some, size_t first) {
    std::vector<float> weights;
    for (int64_t b = 0; b < some.targets.size(); ++b)
      weights.insert(weights.end(), static_cast<size_t>(some.targets.length(b)),
                     static_cast<float>((1.0 - share) * counting[first + static_cast<size_t>(b)].weight));
    tape.reset(seeds.next());
    tape.backward(setting_.model.loss(tape, some, {.row_weights = weights, .never = judged.never}).loss);
  });
  return report;
}

}  // namespace heed::objective
