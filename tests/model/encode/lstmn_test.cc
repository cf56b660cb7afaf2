// The encoder "lstmn" against its formulas in double.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "heed/attend/watch.h"
#include "heed/model/encode/all.h"
#include "heed/tensor/tape.h"

namespace heed::encode {
namespace {

using Row = std::vector<double>;
constexpr int64_t kStates = 4;

struct LstmnWeights {
  std::map<std::string, const Parameter*> all;
  explicit LstmnWeights(const Parameters& parameters) {
    for (const Parameter& p : parameters) all[p.name] = &p;
  }
  /// W x, or the vector itself.
  Row times(const std::string& name, const Row& x) const {
    const Parameter& p = *all.at(name);
    Row y(static_cast<size_t>(p.rows()), 0.0);
    for (int64_t r = 0; r < p.rows(); ++r)
      for (int64_t c = 0; c < p.cols(); ++c) y[r] += p.value[static_cast<size_t>(r * p.cols() + c)] * x[c];
    return y;
  }
  Row row(const std::string& name) const {
    const auto& value = all.at(name)->value;
    return {value.begin(), value.end()};
  }
};

double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// One layer in one direction; `attended`: the weights of each step.
std::vector<Row> plain(const LstmnWeights& w, const std::string& at, const std::vector<Row>& x,
                       std::vector<Row>& attended) {
  std::vector<Row> h, c;
  Row mean_h(kStates, 0.0), mean_c(kStates, 0.0);
  for (const Row& now : x) {
    attended.emplace_back();
    if (!h.empty()) {
      Row query = now;
      query.insert(query.end(), mean_h.begin(), mean_h.end());
      const Row q = w.times(at + "attention.score.query.weight", query), b = w.row(at + "attention.score.bias");
      const Row v = w.row(at + "attention.score.v");
      double sum = 0.0;
      for (const Row& before : h) {
        const Row k = w.times(at + "attention.score.key.weight", before);
        double e = 0.0;
        for (size_t d = 0; d < k.size(); ++d) e += v[d] * std::tanh(k[d] + q[d] + b[d]);
        attended.back().push_back(std::exp(e));
        sum += std::exp(e);
      }
      mean_h.assign(kStates, 0.0), mean_c.assign(kStates, 0.0);
      for (size_t i = 0; i < h.size(); ++i) {
        attended.back()[i] /= sum;
        for (int64_t d = 0; d < kStates; ++d) {
          mean_h[d] += attended.back()[i] * h[i][d];
          mean_c[d] += attended.back()[i] * c[i][d];
        }
      }
    }
    Row gates = w.times(at + "cell.0.forward.input.weight", now);
    const Row state = w.times(at + "cell.0.forward.state.weight", mean_h);
    const Row b1 = w.row(at + "cell.0.forward.input.bias"), b2 = w.row(at + "cell.0.forward.state.bias");
    for (size_t g = 0; g < gates.size(); ++g) gates[g] += state[g] + b1[g] + b2[g];
    Row next_h(kStates), next_c(kStates);
    for (int64_t d = 0; d < kStates; ++d) {  // input, forget, new, output
      next_c[d] = sigmoid_of(gates[kStates + d]) * mean_c[d] + sigmoid_of(gates[d]) * std::tanh(gates[2 * kStates + d]);
      next_h[d] = sigmoid_of(gates[3 * kStates + d]) * std::tanh(next_c[d]);
    }
    h.push_back(next_h);
    c.push_back(next_c);
  }
  return h;
}

TEST(Lstmn, IsItsFormulaInBothDirections) {
  Parameters parameters(3);
  const auto encoder =
      find_encoder("lstmn").make(Scope(parameters), {.width = kStates, .layers = 1, .bidirectional = true});
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal(0.0f, 0.7f);
  for (Parameter& p : parameters)
    for (float& value : p.value) value = normal(random);
  const LstmnWeights weights(parameters);
  const std::vector<int64_t> offsets = {0, 5, 6, 9};
  std::vector<float> x(9 * kStates);
  for (float& value : x) value = normal(random);
  Tape tape({.recording = false, .training = false});
  attend::Watch watch;
  const Encoded got = encoder->run({tape.input(x.data(), 9, kStates), tape.offsets(offsets)});
  ASSERT_EQ(got.memory.rows.cols(), 2 * kStates);
  ASSERT_EQ(watch.calls().size(), 2u);
  EXPECT_EQ(watch.calls()[0].name, "0.forward.attention");
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    for (const bool backwards : {false, true}) {
      std::vector<Row> rows, attended;
      for (int64_t r = offsets[b]; r < offsets[b + 1]; ++r)
        rows.emplace_back(x.begin() + r * kStates, x.begin() + (r + 1) * kStates);
      if (backwards) std::reverse(rows.begin(), rows.end());
      std::vector<Row> wanted = plain(weights, backwards ? "0.backward." : "0.forward.", rows, attended);
      const int64_t n = std::ssize(wanted);
      const attend::WatchedCall& seen = watch.calls()[backwards ? 1 : 0];
      for (int64_t t = 0; t < n; ++t) {
        const int64_t i = backwards ? n - 1 - t : t;
        for (int64_t d = 0; d < kStates; ++d)
          EXPECT_NEAR(got.memory.rows.row(offsets[b] + i)[(backwards ? kStates : 0) + d], wanted[t][d], 2e-6);
        for (int64_t j = 0; j < n; ++j) {
          const int64_t read = backwards ? n - 1 - j : j;  // when j was read
          EXPECT_NEAR(seen.weights[b][static_cast<size_t>(i * n + j)], read < t ? attended[t][read] : 0.0, 2e-6);
        }
      }
      const Tensor last = got.states[backwards ? 1 : 0].h;
      for (int64_t d = 0; d < kStates; ++d) EXPECT_NEAR(last.row(static_cast<int64_t>(b))[d], wanted.back()[d], 2e-6);
    }
}

}  // namespace
}  // namespace heed::encode
