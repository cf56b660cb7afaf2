// What others ask a task about, in place of its name.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/task/all.h"

namespace heed::task {
namespace {

TEST(Facts, SayWhatGoesInAndWhatComesOut) {
  int texts_for_texts = 0, labels = 0, continuations = 0, filled = 0, vectors = 0, pictures = 0, sounds = 0;
  for (const Task* task : all()) {
    texts_for_texts += task->writes_texts_for_texts() ? 1 : 0;
    labels += task->answers() == AnswerKind::label ? 1 : 0;
    continuations += task->answers() == AnswerKind::continuation ? 1 : 0;
    filled += task->answers() == AnswerKind::filled ? 1 : 0;
    vectors += task->answers() == AnswerKind::vector ? 1 : 0;
    EXPECT_EQ(task->writes(), task->answers() == AnswerKind::text || task->answers() == AnswerKind::continuation);
    pictures += task->sources() == SourceKind::picture ? 1 : 0;
    sounds += task->sources() == SourceKind::sound ? 1 : 0;
    EXPECT_EQ(task->answers() == AnswerKind::continuation, task->sources() == SourceKind::none) << task->name;
  }
  EXPECT_EQ(texts_for_texts, 1);
  EXPECT_EQ(labels, 1);
  EXPECT_EQ(continuations, 1);
  EXPECT_EQ(filled, 1);
  EXPECT_EQ(vectors, 1);
  EXPECT_EQ(pictures, 1);
  EXPECT_EQ(sounds, 1);
}

TEST(Facts, ALineIsTextOrAPictureAndTextOrARecording) {
  for (const Task* task : all()) {
    const LineParts parts = task->parts_of("scene:7\twhat is red?"), alone = task->parts_of("a.png");
    if (task->sources() == SourceKind::picture) {
      EXPECT_EQ(parts.picture, "scene:7");
      EXPECT_EQ(parts.text, "what is red?");
      EXPECT_EQ(alone.picture, "a.png");
      EXPECT_EQ(alone.text, "");
    } else if (task->sources() == SourceKind::sound) {
      EXPECT_EQ(parts.sound, "scene:7\twhat is red?");
      EXPECT_EQ(parts.text, "");
    } else {
      EXPECT_EQ(parts.text, "scene:7\twhat is red?") << task->name;
      EXPECT_EQ(parts.picture, "") << task->name;
    }
  }
}

// A model learns as long as the slower of its encoder and decoder, and reads the keys of both.
TEST(Facts, OfAModelAreThoseOfItsEncoderAndDecoder) {
  for (const Task* task : all()) {
    model::Options recurrent, transformer;
    recurrent.kind = "rnn";
    transformer.kind = "transformer";
    EXPECT_LT(task->stacks(recurrent).updates_to_learn, task->stacks(transformer).updates_to_learn) << task->name;
    const auto keys = task->stacks(transformer).keys;
    EXPECT_NE(std::find(keys.begin(), keys.end(), "hidden"), keys.end()) << task->name;
    EXPECT_EQ(std::count(keys.begin(), keys.end(), "hidden"), 1) << task->name;
    if (!task->writes_texts_for_texts()) continue;
    model::Options mixed = recurrent;
    mixed.encoder = "transformer";
    EXPECT_EQ(task->stacks(mixed).updates_to_learn, task->stacks(transformer).updates_to_learn);
    const auto both = task->stacks(mixed).keys;
    EXPECT_NE(std::find(both.begin(), both.end(), "input_feeding"), both.end());
  }
}

}  // namespace
}  // namespace heed::task
