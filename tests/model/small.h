// Tiny models and ragged batches for them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/data/batch.h"
#include "heed/layer/parameters.h"
#include "heed/model/seq2seq.h"
#include "tests/attend/one_thread.h"

namespace heed::model::test {

constexpr int64_t kVocabulary = 11;
constexpr int32_t kStart = 1, kEnd = 2;

struct Sentences {
  std::vector<std::vector<int32_t>> sources, targets;  // targets without START and END

  size_t size() const { return sources.size(); }
  Sentences only(size_t which) const { return {{sources[which]}, {targets[which]}}; }
};

/// Sequences of these lengths, source and target.
inline Sentences random_sentences(const std::vector<std::pair<int, int>>& lengths, uint64_t seed = 3) {
  std::mt19937_64 random(seed);
  const auto some = [&](int count) {
    std::vector<int32_t> ids(static_cast<size_t>(count));
    for (int32_t& id : ids) id = static_cast<int32_t>(3 + random() % (kVocabulary - 3));
    return ids;
  };
  Sentences s;
  for (const auto& [source, target] : lengths) {
    s.sources.push_back(some(source));
    s.targets.push_back(some(target));
  }
  return s;
}
inline Sentences ragged() { return random_sentences({{3, 4}, {7, 1}, {1, 6}, {5, 0}}); }

/// Texts as sources.
inline data::Sources sources_of(const std::vector<std::vector<int32_t>>& texts) {
  data::Sources sources;
  for (const std::vector<int32_t>& text : texts) sources.add(text);
  return sources;
}

/// Sentences one behind the other.
struct Batch : data::Batch {
  explicit Batch(const Sentences& s) {
    sources = sources_of(s.sources);
    for (const std::vector<int32_t>& target : s.targets) targets.add_tokens(target);
  }
  size_t size() const { return static_cast<size_t>(sources.size()); }
  int64_t rows() const { return targets.offsets.back(); }
};

inline Options small(const std::string& kind) {
  Options o{.kind = kind,
            .source_vocabulary = kVocabulary,
            .target_vocabulary = kVocabulary,
            .width = 8,
            .dropout = 0.0f,
            .hidden = 12,
            .max_length = 9};
  o.attention.window = 2;
  o.attention.reach = 3;
  if (kind == "transformer") o.attention.heads = 2;
  return o;
}

/// A model with its parameters. What starts at zero gets numbers too: it must be seen to work.
struct Made {
  Parameters parameters;
  Seq2Seq model;

  explicit Made(const Options& options, uint64_t seed = 5) : parameters(seed), model(parameters, options) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0.0f, 0.1f);
    for (Parameter& p : parameters)
      for (float& value : p.value) value += normal(random);
  }
};

constexpr TapeOptions kQuiet = {.recording = false, .training = false};

/// log p(v | what came before), [rows, vocabulary], with all steps at once.
using LogProbs = std::vector<std::vector<double>>;
inline LogProbs at_once(const Seq2Seq& model, const Batch& batch) {
  LogProbs all(static_cast<size_t>(batch.rows()));
  Batch asked = batch;
  Tape tape(kQuiet);
  for (int32_t v = 0; v < kVocabulary; ++v) {
    asked.targets.out.assign(asked.targets.out.size(), v);
    tape.reset();
    const OutputLoss loss = model.loss(tape, asked, {});
    for (size_t r = 0; r < all.size(); ++r) all[r].push_back(-loss.row_nll[r]);
  }
  return all;
}

/// The same step by step, as a search goes.
inline LogProbs by_steps(const Seq2Seq& model, const Batch& batch) {
  LogProbs all(static_cast<size_t>(batch.rows()));
  int64_t longest = 0;
  for (size_t b = 0; b < batch.size(); ++b)
    longest = std::max(longest, batch.targets.offsets[b + 1] - batch.targets.offsets[b]);
  Tape tape(kQuiet);
  const auto state = model.start(tape, batch.sources, longest);
  for (int64_t t = 0; t < longest; ++t) {
    std::vector<int32_t> tokens(batch.size(), kEnd);  // one that has ended goes on with anything
    for (size_t b = 0; b < batch.size(); ++b)
      if (batch.targets.offsets[b] + t < batch.targets.offsets[b + 1])
        tokens[b] = batch.targets.in[static_cast<size_t>(batch.targets.offsets[b] + t)];
    const Tensor logits = model.step(tokens, *state, tape);
    for (size_t b = 0; b < batch.size(); ++b) {
      if (batch.targets.offsets[b] + t >= batch.targets.offsets[b + 1]) continue;
      const float* row = logits.row(static_cast<int64_t>(b));
      double sum = 0.0;
      for (int64_t v = 0; v < kVocabulary; ++v) sum += std::exp(static_cast<double>(row[v]));
      auto& probs = all[static_cast<size_t>(batch.targets.offsets[b] + t)];
      for (int64_t v = 0; v < kVocabulary; ++v) probs.push_back(row[v] - std::log(sum));
    }
  }
  return all;
}

inline void expect_near(const LogProbs& got, const LogProbs& right, double tolerance) {
  ASSERT_EQ(got.size(), right.size());
  for (size_t r = 0; r < got.size(); ++r) {
    ASSERT_EQ(got[r].size(), static_cast<size_t>(kVocabulary));
    for (size_t v = 0; v < got[r].size(); ++v) ASSERT_NEAR(got[r][v], right[r][v], tolerance) << "row " << r;
  }
}

}  // namespace heed::model::test
