// A user-defined score, bias and region, each a small type, in the fused loop with all their gradients:
//
//   score  = -temperature * |q - k|^2          the temperature is learned
//   bias   = table[min(i - j, 3)]              four learned numbers
//   region = every second earlier key          "dilated": i, i - 2, i - 4, ...
//
// Every gradient is checked against finite differences of the forward.
#include <heed/kernels/attention.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

using namespace heed::kernels;

/// Learned: parameters() says how many floats, backward() takes one more argument and adds their gradient.
struct Nearness {
  float temperature = 0.5f;

  int64_t parameters() const { return 1; }

  float score(const float* q, const float* k, int64_t dim) const { return -temperature * squared_distance(q, k, dim); }

  // NOLINTNEXTLINE(readability-function-size): what kernels/custom.h calls
  void backward(const float* q, const float* k, int64_t dim, float d_score, float* d_q, float* d_k,
                float* d_parameters) const {
    for (int64_t d = 0; d < dim; ++d) {
      const float slope = -2.0f * temperature * (q[d] - k[d]) * d_score;
      d_q[d] += slope;
      d_k[d] -= slope;
    }
    d_parameters[0] -= squared_distance(q, k, dim) * d_score;
  }

  static float squared_distance(const float* q, const float* k, int64_t dim) {
    float sum = 0.0f;
    for (int64_t d = 0; d < dim; ++d) sum += (q[d] - k[d]) * (q[d] - k[d]);
    return sum;
  }
};

/// One learned number for each distance, the last for all that are farther.
struct DistanceTable {
  std::array<float, 4> table = {0.3f, 0.1f, -0.2f, -0.4f};

  static size_t bucket(int64_t i, int64_t j) { return static_cast<size_t>(std::clamp<int64_t>(i - j, 0, 3)); }

  int64_t parameters() const { return static_cast<int64_t>(table.size()); }
  float bias(int64_t /*b*/, int64_t /*h*/, int64_t i, int64_t j) const { return table[bucket(i, j)]; }
  // NOLINTNEXTLINE(readability-function-size): what kernels/custom.h calls
  void backward(int64_t /*b*/, int64_t /*h*/, int64_t i, int64_t j, float d_bias, float* d_parameters) const {
    d_parameters[bucket(i, j)] += d_bias;
  }
};

/// keys() lets the loop skip whole tiles; visible() hides single pairs among the rest.
struct EverySecond {
  std::pair<int64_t, int64_t> keys(int64_t /*b*/, int64_t /*h*/, int64_t i, int64_t Tk) const {
    return {0, std::min(i + 1, Tk)};
  }
  bool visible(int64_t /*b*/, int64_t /*h*/, int64_t i, int64_t j) const { return (i - j) % 2 == 0; }
};

constexpr int64_t kHeads = 2, kTokens = 37, kDim = 5;
constexpr size_t kSize = kHeads * kTokens * kDim;

/// Everything that one step of training would hold.
struct Step {
  Nearness score;
  DistanceTable bias;
  EverySecond region;
  std::vector<float> q, k, v, target, out, saved;

  Step() : q(kSize), k(kSize), v(kSize), target(kSize), out(kSize), saved(2 * kHeads * kTokens) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (auto* tensor : {&q, &k, &v, &target})
      for (float& x : *tensor) x = normal(random);
  }

  /// Hands `problem` to `use`. The custom parts must outlive the call, hence this order.
  template <class Use>
  Status with_problem(const Use& use) {
    const CustomScore custom_score_part = custom_score(score);
    const CustomBias custom_bias_part = custom_bias(bias);
    const CustomRegion custom_region_part = custom_region(region);
    Problem problem;
    problem.shape = {.heads = kHeads, .queries = kTokens, .keys = kTokens, .dim = kDim, .value_dim = kDim};
    problem.score = {.kind = ScoreKind::custom, .custom = &custom_score_part};
    problem.bias.custom = &custom_bias_part;
    problem.region.custom = &custom_region_part;
    return use(problem, Inputs{view(q), view(k), view(v)});
  }

  /// The loss is sum(out * target), so that d_out is the target.
  double loss() {
    const Status status = with_problem([&](const Problem& problem, const Inputs& in) {
      return forward(problem, in, {.out = contiguous(out.data(), kHeads, kTokens, kDim), .saved = saved.data()});
    });
    if (!status) std::puts(status.message().c_str());
    double sum = 0.0;
    for (size_t n = 0; n < kSize; ++n) sum += static_cast<double>(out[n]) * static_cast<double>(target[n]);
    return status ? sum : std::nan("");
  }

  static ConstView view(const std::vector<float>& x) { return contiguous(x.data(), kHeads, kTokens, kDim); }
};

/// Central difference of the loss in `x`, next to the gradient that the backward gave. True where they agree.
bool compare(Step& step, const char* name, float& x, float gradient) {
  const float kept = x, eps = 1e-2f;
  x = kept + eps;
  const double above = step.loss();
  x = kept - eps;
  const double below = step.loss();
  x = kept;
  const double difference = (above - below) / (2.0 * static_cast<double>(eps));
  const bool agree = std::fabs(difference - static_cast<double>(gradient)) <= 5e-3 * (1.0 + std::fabs(difference));
  std::printf("  %-22s backward %+10.5f   differences %+10.5f   %s\n", name, static_cast<double>(gradient), difference,
              agree ? "agree" : "DIFFER");
  return agree;
}

int main() {
  Step step;
  const double loss = step.loss();
  std::vector<float> d_q(kSize), d_k(kSize), d_v(kSize), d_score(1), d_bias(4);
  const Status status = step.with_problem([&](const Problem& problem, const Inputs& in) {
    BackwardInputs from;
    from.out = Step::view(step.out);
    from.saved = step.saved.data();
    from.d_out = Step::view(step.target);
    Gradients gradients;
    gradients.d_q = contiguous(d_q.data(), kHeads, kTokens, kDim);
    gradients.d_k = contiguous(d_k.data(), kHeads, kTokens, kDim);
    gradients.d_v = contiguous(d_v.data(), kHeads, kTokens, kDim);
    gradients.d_custom_score = d_score.data();
    gradients.d_custom_bias = d_bias.data();
    return backward(problem, in, from, gradients);
  });
  if (!status || std::isnan(loss)) {
    std::puts(status.message().c_str());
    return 1;
  }

  std::printf("own score, bias and region: loss %.5f\n", loss);
  bool agree = compare(step, "score: temperature", step.score.temperature, d_score[0]);
  const char* distances[] = {"bias: distance 0", "bias: distance 1", "bias: distance 2", "bias: distance 3+"};
  for (size_t n = 0; n < 4; ++n) agree &= compare(step, distances[n], step.bias.table[n], d_bias[n]);
  agree &= compare(step, "one of the queries", step.q[42], d_q[42]);
  agree &= compare(step, "one of the keys", step.k[42], d_k[42]);
  agree &= compare(step, "one of the values", step.v[42], d_v[42]);
  return agree ? 0 : 1;
}
