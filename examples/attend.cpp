// Trains an attention to read backwards, from nothing to the right answer in a few seconds.
//
// Six letters come in, and each place of the answer asks: which letter belongs here? Nobody tells it where to look; the
// loss alone teaches the additive attention that the first answer stands at the end. The weights at the end show it.
#include <heed/attend/all.h>
#include <heed/layer/embedding.h>
#include <heed/layer/linear.h>
#include <heed/tensor/ops.h>
#include <heed/train/optimise/adam.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "heat_map.h"

namespace {

using namespace heed;

constexpr int32_t kLetters = 26, kLength = 6;
constexpr int64_t kWidth = 32;

struct Batch {
  int64_t words = 0;
  std::vector<int32_t> letters, places, answers;  // [words * kLength], word by word
};

Batch random_words(int64_t words, std::mt19937& random) {
  Batch batch{words, {}, {}, {}};
  for (int64_t w = 0; w < words; ++w)
    for (int32_t i = 0; i < kLength; ++i) {
      batch.letters.push_back(static_cast<int32_t>(random() % kLetters));
      batch.places.push_back(i);
    }
  batch.answers = batch.letters;
  for (int64_t w = 0; w < words; ++w) {
    const auto first = batch.answers.begin() + w * kLength;
    std::reverse(first, first + kLength);
  }
  return batch;
}

/// Letters and their places are the memory; the place of an answer is the query; the context becomes a letter.
class Reverser {
 public:
  Reverser()
      : letter_(Scope(parameters_) / "letter", {.vocabulary = kLetters, .width = kWidth}),
        place_(Scope(parameters_) / "place", {.vocabulary = kLength, .width = kWidth}),
        question_(Scope(parameters_) / "question", {.vocabulary = kLength, .width = kWidth}),
        attention_(attend::make(Scope(parameters_) / "attention",
                                attend::options_of("additive", {.key_width = kWidth, .hidden = kWidth}))),
        output_(Scope(parameters_) / "output", attention_->context_width(), kLetters),
        adam_(parameters_) {}

  /// One step on one batch. Returns the loss per letter.
  float train(const Batch& batch) {
    tape_.reset();
    const Tensor logits = output_(look(tape_, batch, {}).context);
    const Tensor loss = scale(cross_entropy(logits, batch.answers), 1.0f / static_cast<float>(batch.answers.size()));
    tape_.backward(loss);
    adam_.step(0.01f);
    return loss.item();
  }

  /// The share of letters that are right.
  double accuracy(const Batch& batch) const {
    Tape tape({.recording = false, .training = false});
    const Tensor logits = output_(look(tape, batch, {}).context);
    int64_t right = 0;
    for (int64_t row = 0; row < logits.rows(); ++row) {
      const float* first = logits.row(row);
      right += std::max_element(first, first + kLetters) - first == batch.answers[static_cast<size_t>(row)];
    }
    return static_cast<double>(right) / static_cast<double>(logits.rows());
  }

  /// [kLength, kLength]: where each answer of a single word looked.
  std::vector<float> weights(const Batch& word) const {
    Tape tape({.recording = false, .training = false});
    const attend::Weights w = look(tape, word, {.weights = true}).weights;
    return {w.at(0, 0, 0), w.at(0, 0, 0) + kLength * kLength};
  }

 private:
  attend::Attended look(Tape& tape, const Batch& batch, const attend::Request& request) const {
    const Offsets words = tape.even_offsets(batch.words, kLength);
    const Tensor memory = add(letter_(tape, batch.letters), place_(tape, batch.places));
    const Tensor questions = question_(tape, batch.places);
    return attention_->attend({{questions, words}}, attention_->prepare({{memory, words}}), {}, request);
  }

  Parameters parameters_{1};
  Embedding letter_, place_, question_;
  std::unique_ptr<attend::Mechanism> attention_;
  Linear output_;
  optimise::Adam adam_;
  Tape tape_;
};

}  // namespace

int main() {
  std::mt19937 random(7);
  Reverser reverser;
  const Batch held_out = random_words(100, random);
  double right = 0.0;
  for (int step = 1; step <= 1000 && right < 0.995; ++step) {
    const float loss = reverser.train(random_words(32, random));
    if (step % 10 != 0) continue;
    right = reverser.accuracy(held_out);
    std::printf("step %4d   loss %.3f   right %3.0f %%\n", step, static_cast<double>(loss), 100.0 * right);
  }

  Batch word = random_words(1, random);
  const std::string text = "heeded";
  for (size_t i = 0; i < text.size(); ++i) word.letters[i] = text[i] - 'a';
  std::printf("\nWhere each letter of the answer looked:\n\n");
  heat_map::draw_large(heat_map::Terminal(),
                       {"", std::string(text.rbegin(), text.rend()), text, reverser.weights(word)});
  return right > 0.98 ? 0 : 1;
}
