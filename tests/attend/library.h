// The library on a case: all steps at once, step by step, with a memory that grows, or with stacked heads.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/tensor/op/arrange.h"
#include "tests/attend/case.h"
#include "tests/attend/loss.h"
#include "tests/attend/one_thread.h"
#include "tests/attend/stacked.h"

namespace heed::attend::test {

enum class Run { at_once, step_by_step, in_chunks, growing, stacked };

/// What came out of one run, and the gradients of its loss.
struct Outcome {
  Matrix context, entropy, guide_cost, log_prob;
  Dense weights, inner_weights;
  double penalty = 0.0;
  double loss = 0.0;
  Values gradients;
};

inline Matrix matrix_of(Tensor t) {
  if (!t) return {};
  Matrix m(t.rows(), t.cols());
  m.data.assign(t.data(), t.data() + t.size());
  return m;
}

inline Dense dense_of(const Weights& w) {
  Dense d(w.batch, w.heads, w.queries, w.keys);
  if (w.data) d.data.assign(w.data, w.data + d.data.size());
  return d;
}

class Library {
 public:
  explicit Library(const Case& c) : c_(c), layout_(layout_of(c)), inputs_(inputs_of(c, layout_)), parameters_(c.seed) {
    mechanism_ = make(Scope(parameters_), c.options);
    Random random(c.seed + 7);  // also what starts at zero must be seen to work
    for (Parameter& p : parameters_)
      for (float& value : p.value) value = static_cast<float>(0.5 * random.normal());
    for (const auto& [name, m] : inputs_) floats_[name] = std::vector<float>(m.data.begin(), m.data.end());
  }

  const Layout& layout() const { return layout_; }
  const Mechanism& mechanism() const { return *mechanism_; }
  Parameters& parameters() { return parameters_; }

  /// Another number in an input.
  void set_input(const std::string& name, const Matrix& m) {
    inputs_.at(name) = m;
    floats_.at(name) = std::vector<float>(m.data.begin(), m.data.end());
  }

  /// Inputs and parameters, as the reference takes them.
  Values values() const {
    Values all = inputs_;
    for (const Parameter& p : parameters_) {
      Matrix& m = all[p.name] = Matrix(p.rows(), p.cols());
      m.data.assign(p.value.begin(), p.value.end());
    }
    return all;
  }

  /// The same mechanism on one sequence by itself.
  std::unique_ptr<Library> alone(int64_t b) const {
    Case one = c_;
    one.key_lengths = {c_.key_lengths[b]};
    if (!layout_.query_offsets.empty()) one.query_lengths = {layout_.query_offsets[b + 1] - layout_.query_offsets[b]};
    one.mask = one.lengths = false;
    auto library = std::make_unique<Library>(one);
    for (auto& [name, m] : library->inputs_) {
      const bool of_keys = name == "input.keys" || name == "input.values";
      const int64_t first = (of_keys ? layout_.key_offsets : layout_.query_offsets)[b];
      const Matrix& all = inputs_.at(name);
      for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t d = 0; d < m.cols; ++d) m(r, d) = all(first + r, d);
      library->floats_[name] = std::vector<float>(m.data.begin(), m.data.end());
    }
    return library;
  }

  using Loss = std::function<Tensor(const Attended&, Tape&)>;

  Outcome run(
      Run how, TapeOptions options = {}, const Loss& loss = [](const Attended& a, Tape& t) { return loss_of(a, t); }) {
    Tape tape(options);
    return run_on(tape, how, loss);
  }

  /// One step on a tape that is reused.
  Outcome run_on(Tape& tape, Run how, const Loss& loss_from) {
    leaves_.clear();
    for (const auto& [name, m] : inputs_)
      leaves_[name] = tape.input(floats_[name].data(), m.rows, m.cols, tape.recording());
    parameters_.forget_gradients();
    const Attended a = attend(tape, how);
    Outcome outcome;
    outcome.context = matrix_of(a.context);
    outcome.entropy = matrix_of(a.entropy);
    outcome.guide_cost = matrix_of(a.guide_cost);
    outcome.log_prob = matrix_of(a.log_prob);
    outcome.weights = dense_of(a.weights);
    outcome.inner_weights = dense_of(a.inner_weights);
    if (a.penalty) outcome.penalty = a.penalty.item();
    const Tensor loss = loss_from(a, tape);
    outcome.loss = loss.item();
    if (tape.recording()) {
      tape.backward(loss);
      outcome.gradients = gradients();
    }
    return outcome;
  }

 private:
  Tensor leaf(const std::string& name) const {
    const auto found = leaves_.find(name);
    return found == leaves_.end() ? Tensor() : found->second;
  }

  Memory memory(Tape& tape) const {
    Memory m{{leaf("input.keys"), tape.offsets(layout_.key_offsets)}};
    m.values = leaf("input.values");
    if (!layout_.key_documents.empty()) m.documents = layout_.key_documents.data();
    if (!layout_.lengths.empty()) m.lengths = layout_.lengths.data();
    if (!layout_.sentences.empty()) m.sentences = tape.offsets(layout_.sentences);
    return m;
  }

  /// The rows of the queries at the steps [first, last), sequence by sequence.
  struct Steps {
    std::vector<int64_t> rows, offsets;
  };
  Steps steps(int64_t first, int64_t last) const {
    Steps s;
    s.offsets = {0};
    for (int64_t b = 0; b < layout_.batch(); ++b) {
      const int64_t begin = layout_.query_offsets[b], end = layout_.query_offsets[b + 1];
      for (int64_t r = begin + first; r < std::min(end, begin + last); ++r) s.rows.push_back(r);
      s.offsets.push_back(static_cast<int64_t>(s.rows.size()));
    }
    return s;
  }

  Queries queries(Tape& tape, const Steps& s) const {
    Queries q;
    if (asks_with(c_) == Asks::nothing) return q;
    const Tensor all = leaf(asks_with(c_) == Asks::keys ? "input.keys" : "input.queries");
    const bool whole = static_cast<int64_t>(s.rows.size()) == all.rows();
    q.rows = {whole ? all : gather_rows(all, s.rows), tape.offsets(s.offsets)};
    const int64_t keys = layout_.longest_keys();
    if (!layout_.query_documents.empty()) {
      auto* documents = tape.keep<int32_t>(static_cast<int64_t>(s.rows.size()));
      for (size_t n = 0; n < s.rows.size(); ++n) documents[n] = layout_.query_documents[s.rows[n]];
      q.documents = documents;
    }
    if (!layout_.mask.empty()) {
      auto* mask = tape.keep<uint8_t>(static_cast<int64_t>(s.rows.size()) * keys);
      for (size_t n = 0; n < s.rows.size(); ++n)
        std::copy_n(layout_.mask.data() + s.rows[n] * keys, keys, mask + static_cast<int64_t>(n) * keys);
      q.mask = mask;
      q.mask_keys = keys;
    }
    if (c_.bias) q.bias = whole ? leaf("input.bias") : gather_rows(leaf("input.bias"), s.rows);
    return q;
  }

  int64_t longest_target() const {
    int64_t longest = 0;
    for (int64_t b = 0; b < layout_.batch(); ++b)
      longest = std::max(longest, layout_.query_offsets[b + 1] - layout_.query_offsets[b]);
    return longest;
  }

  Attended attend(Tape& tape, Run how) {
    const Request request = request_of(c_);
    if (how == Run::growing) return attend_growing(tape, request);
    if (how == Run::stacked) return attend_stacked(tape, request);
    const PreparedMemory prepared = mechanism_->prepare(memory(tape));
    if (how == Run::at_once) {
      Steps all;
      if (asks_with(c_) != Asks::nothing) all = steps(0, longest_target());
      return mechanism_->attend(queries(tape, all), prepared, {}, request);
    }
    Parts parts(*this, tape);
    State state;
    auto* targets = tape.keep<int32_t>(layout_.batch());
    for (int64_t b = 0; b < layout_.batch(); ++b)
      targets[b] = static_cast<int32_t>(layout_.query_offsets[b + 1] - layout_.query_offsets[b]);
    state.set_target_lengths(targets);
    for (int64_t first = 0, last = 0; first < longest_target(); first = last) {
      last = how == Run::step_by_step ? first + 1 : first == 0 ? 2 : longest_target();
      const Steps now = steps(first, last);
      const Attended a = mechanism_->attend(queries(tape, now), prepared, state, request);
      parts.add(now, first, a);
      state = a.state;
    }
    return parts.together();
  }

  /// Self-attention whose memory grows with the target. All sequences are equally long.
  Attended attend_growing(Tape& tape, const Request& request) {
    PreparedMemory prepared = mechanism_->begin(tape, layout_.batch(), longest_target());
    Parts parts(*this, tape);
    State state;
    for (int64_t t = 0; t < longest_target(); ++t) {
      const Steps now = steps(t, t + 1);
      Memory row{{gather_rows(leaf("input.keys"), now.rows), {}}};
      if (leaf("input.values")) row.values = gather_rows(leaf("input.values"), now.rows);
      prepared = mechanism_->extend(prepared, row);
      const Attended a = mechanism_->attend(queries(tape, now), prepared, state, request);
      parts.add(now, t, a);
      state = a.state;
    }
    return parts.together();
  }

  /// Inputs as [B, heads, T, width], and what comes out brought back. All sequences are equally long.
  Attended attend_stacked(Tape& tape, const Request& request) {
    const int64_t heads = c_.options.heads, kv_heads = c_.options.kv_heads > 0 ? c_.options.kv_heads : heads;
    const Stack asking{layout_.batch(), heads, longest_target()},
        asked{layout_.batch(), kv_heads, layout_.longest_keys()};
    Memory m = memory(tape);
    m.rows.rows = asked.stacked(m.rows.rows);
    if (m.values) m.values = asked.stacked(m.values);
    m.stacked = true;
    Queries q = queries(tape, steps(0, longest_target()));
    q.rows.rows = asking.stacked(q.rows.rows);
    q.stacked = true;
    Attended a = mechanism_->attend(q, mechanism_->prepare(m), {}, request);
    a.context = asking.side_by_side(a.context);
    if (a.entropy) a.entropy = asking.of_rows(a.entropy);
    if (a.guide_cost) a.guide_cost = asking.of_rows(a.guide_cost);
    return a;
  }

  /// Puts the results of several calls together as if they were one.
  class Parts {
   public:
    Parts(const Library& of, Tape& tape) : of_(of), tape_(tape) {}

    void add(const Steps& s, int64_t first, const Attended& a) {
      for (const int64_t row : s.rows) rows_.push_back(row);
      context_.push_back(a.context);
      if (first == 0) start_ = a;
      if (a.entropy) entropy_.push_back(transpose(a.entropy));
      if (a.guide_cost) guide_cost_.push_back(transpose(a.guide_cost));
      const Weights& w = a.weights;
      if (weights_.data.empty()) weights_ = Dense(w.batch, w.heads, of_.longest_target(), of_.layout_.longest_keys());
      for (int64_t b = 0; b < w.batch; ++b)
        for (int64_t h = 0; h < w.heads; ++h)
          for (int64_t i = 0; i < w.queries; ++i)
            for (int64_t j = 0; j < w.keys; ++j)
              if (first + i < weights_.queries) weights_(b, h, first + i, j) = w.at(b, h, i)[j];
    }

    Attended together() {
      Attended a;
      a.context = in_order(context_);
      if (of_.c_.options.time == "static")
        a.entropy = start_.entropy;  // of the one query, which is asked at the first step
      else if (!entropy_.empty())
        a.entropy = transpose(in_order(entropy_));
      if (!guide_cost_.empty()) a.guide_cost = transpose(in_order(guide_cost_));
      a.weights = {weights_.batch, weights_.heads, weights_.queries, weights_.keys, nullptr};
      a.weights.data = tape_.keep<float>(static_cast<int64_t>(weights_.data.size()));
      std::copy(weights_.data.begin(), weights_.data.end(), a.weights.data);
      return a;
    }

   private:
    Tensor in_order(const std::vector<Tensor>& parts) {
      std::vector<int64_t> at(rows_.size());
      for (size_t n = 0; n < rows_.size(); ++n) at[rows_[n]] = static_cast<int64_t>(n);
      return gather_rows(concat_rows(parts), at);
    }

    const Library& of_;
    Tape& tape_;
    std::vector<int64_t> rows_;
    std::vector<Tensor> context_, entropy_, guide_cost_;
    Attended start_;
    Dense weights_;
  };

  Values gradients() {
    Values all;
    for (const auto& [name, m] : inputs_) {
      Matrix& g = all[name] = Matrix(m.rows, m.cols);
      if (const float* from = leaves_[name].gradient()) g.data.assign(from, from + g.data.size());
    }
    for (const Parameter& p : parameters_) {
      if (!p.trainable) continue;
      Matrix& g = all[p.name] = Matrix(p.rows(), p.cols());
      if (p.has_gradient) g.data.assign(p.gradient.begin(), p.gradient.end());
    }
    return all;
  }

  Case c_;
  Layout layout_;
  Values inputs_;
  Parameters parameters_;
  std::unique_ptr<Mechanism> mechanism_;
  std::map<std::string, std::vector<float>> floats_;
  std::map<std::string, Tensor> leaves_;
};

}  // namespace heed::attend::test
