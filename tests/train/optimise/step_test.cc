// Whole training steps: a small tagger learns one batch by heart, and a steady step asks the system for no memory.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "heed/layer/embedding.h"
#include "heed/layer/linear.h"
#include "heed/layer/recurrent.h"
#include "heed/tensor/op/cross_entropy.h"
#include "heed/tensor/op/dropout.h"
#include "heed/train/optimise/adam.h"
#include "heed/train/optimise/clip.h"

namespace heed::optimise {
namespace {

constexpr int32_t kWords = 20, kTags = 6;

struct Tagger {
  Parameters parameters;
  Embedding embedding;
  Recurrent encoder;
  Linear out;

  explicit Tagger(uint64_t seed)
      : parameters(seed),
        embedding(Scope(parameters) / "embedding", {.vocabulary = kWords, .width = 16}),
        encoder(Scope(parameters) / "encoder",
                {.input = 16, .hidden = 12, .layers = 2, .bidirectional = true, .dropout = 0.1f}),
        out(Scope(parameters) / "out", 24, kTags) {}

  /// words [tokens] -> logits [tokens, kTags]
  Tensor operator()(Tape& tape, std::span<const int32_t> words, std::span<const int64_t> offsets) const {
    return out(encoder.run({dropout(embedding(tape, words), 0.1f), tape.offsets(offsets)}).rows);
  }
};

/// A batch of sequences of unequal length; the tag follows from the word and the word before it.
struct Batch {
  std::vector<int32_t> words, tags;
  std::vector<int64_t> offsets = {0};

  explicit Batch(const std::vector<int64_t>& lengths) {
    for (const int64_t length : lengths) {
      int32_t before = 0;
      for (int64_t t = 0; t < length; ++t) {
        const auto word = static_cast<int32_t>((words.size() * 7 + 3) % kWords);
        words.push_back(word);
        tags.push_back((word + before) % kTags);
        before = word;
      }
      offsets.push_back(static_cast<int64_t>(words.size()));
    }
  }
};

struct Trainer {
  Tagger model;
  Adam adam;
  Tape tape;

  explicit Trainer(uint64_t seed) : model(seed), adam(model.parameters, {.decay = 0.001f}) {}

  /// Loss per token before the step.
  float step(const Batch& batch, uint64_t number) {
    tape.reset(number);
    const Tensor loss = cross_entropy(model(tape, batch.words, batch.offsets), batch.tags);
    tape.backward(loss);
    clip_gradients(model.parameters, 5.0);
    adam.step(0.01f);
    return loss.item() / static_cast<float>(batch.words.size());
  }
};

TEST(Step, LearnsOneBatchByHeart) {
  const Batch batch({7, 1, 12, 0, 9});
  Trainer trainer(1);
  const float first = trainer.step(batch, 0);
  EXPECT_NEAR(first, std::log(static_cast<float>(kTags)), 0.5f) << "an untrained model should guess";
  for (uint64_t i = 1; i < 150; ++i) trainer.step(batch, i);

  Tape tape({.recording = false, .training = false});
  const Tensor logits = trainer.model(tape, batch.words, batch.offsets);
  EXPECT_LT(cross_entropy(logits, batch.tags).item() / static_cast<float>(batch.words.size()), 0.05f);
  for (size_t n = 0; n < batch.words.size(); ++n) {
    const float* row = logits.row(static_cast<int64_t>(n));
    EXPECT_EQ(std::max_element(row, row + kTags) - row, batch.tags[n]) << "word " << n;
  }
}

TEST(Step, SteadyStepsAskTheSystemForNothing) {
  const Batch small({3, 5}), large({7, 1, 12, 0, 9});
  Trainer trainer(2);
  for (uint64_t i = 0; i < 3; ++i) trainer.step(large, i);
  const int64_t calls = trainer.tape.arena().system_calls();
  const size_t capacity = trainer.tape.arena().capacity();
  EXPECT_GT(calls, 0);
  for (uint64_t i = 0; i < 20; ++i) trainer.step(i % 3 == 0 ? small : large, i);
  EXPECT_EQ(trainer.tape.arena().system_calls(), calls);
  EXPECT_EQ(trainer.tape.arena().capacity(), capacity);
}

TEST(Step, TheSameSeedGivesTheSameModelToTheLastBit) {
  const Batch batch({7, 1, 12, 0, 9});
  Trainer one(3), two(3);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(one.step(batch, i), two.step(batch, i));
  for (const Parameter& p : one.model.parameters) EXPECT_EQ(p.value, two.model.parameters.at(p.name).value) << p.name;
}

}  // namespace
}  // namespace heed::optimise
