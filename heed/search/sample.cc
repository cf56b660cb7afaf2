// Every token is drawn from the model's distribution, sharpened or flattened by a temperature and cut to the most
// likely tokens.
#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/search/paths.h"
#include "heed/search/strategies.h"
#include "heed/text/random.h"

namespace heed::search {

namespace {

class Draw {
 public:
  explicit Draw(const Options& options) : o_(options) {}

  int32_t operator()(const float* logits, int64_t count, text::Random& random) {
    // Uniform in [0, 1), with all 53 bits of a double.
    const double u = static_cast<double>(random.next() >> 11) * 0x1.0p-53;
    if (o_.top_p >= 1.0 && (o_.top_k == 0 || o_.top_k >= count)) return among_all(logits, count, u);
    return among_best(logits, count, u);
  }

 private:
  double weight(float logit, float largest) const {
    return exact::exp((static_cast<double>(logit) - largest) / o_.temperature);
  }

  int32_t among_all(const float* logits, int64_t count, double u) {
    const float largest = *std::max_element(logits, logits + count);
    weights_.resize(static_cast<size_t>(count));
    double sum = 0.0;
    for (int64_t v = 0; v < count; ++v) sum += weights_[static_cast<size_t>(v)] = weight(logits[v], largest);
    return static_cast<int32_t>(place_of(u * sum));
  }

  /// With top_p alone the number of tokens is not known in advance. It is usually small, so growing numbers are tried.
  int32_t among_best(const float* logits, int64_t count, double u) {
    const int64_t most = o_.top_k > 0 ? std::min(o_.top_k, count) : count;
    int64_t k = o_.top_k > 0 ? most : std::min(kFirst, most);
    double sum = take_best(logits, count, k);
    if (o_.top_p < 1.0) {
      const double wanted = o_.top_p * (k == most ? sum : sum_of_all(logits, count));
      while (sum < wanted && k < most) sum = take_best(logits, count, k = std::min(most, 4 * k));
      sum = cut(wanted);
    }
    return best_[place_of(u * sum)];
  }

  /// The sum of the weights of the k best.
  double take_best(const float* logits, int64_t count, int64_t k) {
    best_.resize(static_cast<size_t>(k));
    best_of_row(logits, count, k, best_.data());
    weights_.clear();
    double sum = 0.0;
    for (const int32_t v : best_) sum += weights_.emplace_back(weight(logits[v], logits[best_[0]]));
    return sum;
  }
  double sum_of_all(const float* logits, int64_t count) const {
    double sum = 0.0;
    for (int64_t v = 0; v < count; ++v) sum += weight(logits[v], logits[best_[0]]);
    return sum;
  }
  /// The first that reach `wanted` stay; their sum.
  double cut(double wanted) {
    double sum = 0.0;
    size_t kept = 0;
    while (kept < weights_.size() && (kept == 0 || sum < wanted)) sum += weights_[kept++];
    weights_.resize(kept);
    return sum;
  }

  /// The first place up to which the weights add up to more than `target`; the last one with a weight if none.
  size_t place_of(double target) const {
    double sum = 0.0;
    size_t last = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] <= 0.0) continue;
      sum += weights_[i];
      last = i;
      if (sum > target) break;
    }
    return last;
  }

  static constexpr int64_t kFirst = 64;

  const Options& o_;
  std::vector<int32_t> best_;
  std::vector<double> weights_;
};

}  // namespace

std::vector<Result> sample(Stepper& stepper) {
  const Options& o = stepper.options();
  std::vector<text::Random> streams;
  for (int64_t b = 0; b < stepper.sources().size(); ++b) {
    text::Random of_sentence(o.seed, static_cast<uint64_t>(stepper.sources().number(b)));
    for (int64_t n = 0; n < o.nbest; ++n) streams.emplace_back(of_sentence.next());
  }
  Draw draw(o);
  return follow_paths(stepper, o.nbest, 0, [&](const PathStep& s) {
    return draw(s.logits.row(s.row), s.logits.cols(), streams[static_cast<size_t>(s.path)]);
  });
}

}  // namespace heed::search
