// The smallest model around an attention: embeddings, the attention, one linear layer to the tokens.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/reinforce.h"
#include "heed/layer/embedding.h"
#include "heed/layer/linear.h"
#include "heed/tensor/ops.h"
#include "heed/train/optimise/adam.h"
#include "tests/learn/tasks.h"

namespace heed::attend::test {

struct Trial {
  ToyTask task;
  Options options;
  float rate = 0.01f;
  int64_t steps = 1500;          // at most
  float guide_weight = 0.0f;     // of guide_cost in the loss
  bool frozen = false;           // the queries are zeros: every weight of scaled_dot is the same
  bool lengths = false;          // two more rows stand behind each sequence and do not count
  bool separate_values = false;  // the values are the tokens alone, the keys know their places too
  uint64_t seed = 3;
};

class Model {
 public:
  explicit Model(const Trial& trial)
      : trial_(trial),
        parameters_(trial.seed),
        token_(Scope(parameters_) / "token", {.vocabulary = kTokens, .width = width(), .deviation = 0.5f}),
        place_(Scope(parameters_) / "place", {.vocabulary = kLength, .width = width(), .deviation = 0.5f}),
        mark_(Scope(parameters_) / "mark", {.vocabulary = 2, .width = width(), .deviation = 0.5f}),
        step_(Scope(parameters_) / "step", {.vocabulary = kLength, .width = query_width(), .deviation = 0.5f}),
        attention_(make(Scope(parameters_) / "attention", trial.options)),
        output_(Scope(parameters_) / "output", attention_->context_width() * rows_per_target(), kTokens),
        adam_(parameters_) {}

  /// Trains until held-out samples are right, and says which share of them is at the end.
  double learn() {
    Random random(trial_.seed + 100), other(trial_.seed + 200);
    Sampling sampling{trial_.task, 32, has_documents(), is_hierarchical()};
    if (is_hierarchical()) sampling.sequences = 32 * kSentences;
    Sampling held_out = sampling;
    held_out.sequences = 240;
    const Batch test = sample(held_out, other);
    double right = 0.0;
    for (int64_t step = 1; step <= trial_.steps; ++step) {
      train(sample(sampling, random), static_cast<uint64_t>(step));
      if (step % 25 != 0) continue;
      right = accuracy(test);
      if (right > 0.985) break;
    }
    return right;
  }

 private:
  bool is_hierarchical() const { return trial_.options.structure == "hierarchical"; }
  bool has_documents() const { return trial_.options.region.find("documents") != std::string::npos; }
  bool is_structured() const { return trial_.options.structure == "structured"; }
  bool asks_itself() const { return trial_.task == ToyTask::lagged; }
  bool asks_nothing() const {
    const Options& o = trial_.options;
    return o.input == "learned_query" || is_structured() || is_hierarchical() || o.structure == "feed_forward" ||
           o.time == "static";
  }
  int64_t width() const { return trial_.options.key_width; }
  int64_t query_width() const { return trial_.options.query_width; }
  int64_t rows_per_target() const { return is_structured() ? trial_.options.queries : 1; }

  struct Output {
    Attended attended;
    Tensor logits;
  };

  Memory memory(Tape& tape, const Batch& batch) const {
    Tensor rows = token_(tape, batch.tokens);
    Memory m;
    if (trial_.separate_values) m.values = rows;
    rows = add(rows, trial_.task == ToyTask::marked ? mark_(tape, batch.marks) : place_(tape, batch.places));
    m.rows = {rows, tape.even_offsets(batch.sequences, kLength)};
    if (trial_.lengths) pad(tape, batch, m);
    if (has_documents()) m.documents = batch.documents.data();
    if (batch.per_document) m.sentences = tape.even_offsets(batch.sequences / kSentences, kSentences);
    return m;
  }

  /// Two rows behind each sequence that look like its first two, and do not count.
  void pad(Tape& tape, const Batch& batch, Memory& m) const {
    std::vector<int64_t> from;
    for (int64_t b = 0; b < batch.sequences; ++b)
      for (int64_t i = 0; i < kLength + 2; ++i) from.push_back(b * kLength + i % kLength);
    m.rows = {gather_rows(m.rows.rows, from), tape.even_offsets(batch.sequences, kLength + 2)};
    auto* lengths = tape.keep<int32_t>(batch.sequences);
    std::fill_n(lengths, batch.sequences, static_cast<int32_t>(kLength));
    m.lengths = lengths;
  }

  Queries queries(Tape& tape, const Batch& batch, const Memory& m) const {
    if (asks_nothing()) return {};
    Queries q;
    if (asks_itself()) {
      q.rows = m.rows;
    } else if (trial_.task == ToyTask::marked) {  // every sequence asks the same
      q.rows = {step_(tape, std::vector<int32_t>(batch.sequences, 0)), tape.even_offsets(batch.sequences, 1)};
    } else {
      q.rows = {step_(tape, batch.places), tape.even_offsets(batch.sequences, kLength)};
    }
    if (trial_.frozen) q.rows.rows = tape.filled(q.rows.rows.rows(), query_width(), 0.0f);
    if (has_documents()) q.documents = batch.documents.data();
    return q;
  }

  Output forward(Tape& tape, const Batch& batch) const {
    const Memory m = memory(tape, batch);
    const Request request{.guide_cost = trial_.guide_weight > 0.0f,
                          .entropy = trial_.options.normalise == "hard_sampled"};
    Output out;
    out.attended = attention_->attend(queries(tape, batch, m), attention_->prepare(m), {}, request);
    Tensor context = out.attended.context;
    if (is_structured())
      context = reshape(context, context.rows() / rows_per_target(), context.cols() * rows_per_target());
    out.logits = output_(context);
    return out;
  }

  void train(const Batch& batch, uint64_t seed) {
    tape_.reset(seed);
    const Output out = forward(tape_, batch);
    Tensor loss = scale(cross_entropy(out.logits, batch.targets), 1.0f / static_cast<float>(batch.targets.size()));
    if (out.attended.guide_cost) loss = add(loss, scale(mean(out.attended.guide_cost), trial_.guide_weight));
    if (out.attended.log_prob)
      loss = add(loss, reinforce_.loss(out.attended.log_prob, rewards(out.logits, batch), out.attended.entropy));
    tape_.backward(loss);
    adam_.step(trial_.rate);
  }

  /// 1 where the answer is right.
  static std::vector<float> rewards(Tensor logits, const Batch& batch) {
    std::vector<float> r;
    for (int64_t row = 0; row < logits.rows(); ++row)
      r.push_back(best(logits, row) == batch.targets[row] ? 1.0f : 0.0f);
    return r;
  }

  static int32_t best(Tensor logits, int64_t row) {
    const float* at = logits.row(row);
    return static_cast<int32_t>(std::max_element(at, at + logits.cols()) - at);
  }

  double accuracy(const Batch& batch) {
    Tape tape({.recording = false, .training = false});
    const Output out = forward(tape, batch);
    int64_t right = 0, all = 0;
    for (int64_t row = 0; row < out.logits.rows(); ++row) {
      if (batch.targets[row] < 0) continue;
      ++all;
      right += best(out.logits, row) == batch.targets[row] ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(all);
  }

  Trial trial_;
  Parameters parameters_;
  Embedding token_, place_, mark_, step_;
  std::unique_ptr<Mechanism> attention_;
  Linear output_;
  optimise::Adam adam_;
  Reinforce reinforce_{{.baseline_decay = 0.9f, .entropy_weight = 0.01f}};
  Tape tape_;
};

}  // namespace heed::attend::test
