#include "heed/train/optimise/adam.h"

#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"
#include "heed/tensor/parallel.h"

namespace heed::optimise {

namespace {

/// The numbers of one step of one parameter, the corrections of m and v included.
struct Step {
  float beta1, beta2;
  float rate;     // rate * sqrt(1 - beta2^t) / (1 - beta1^t)
  float epsilon;  // epsilon * sqrt(1 - beta2^t)
  float keep;     // 1 - rate * decay: what AdamW leaves of w
  float penalty;  // decay inside the gradient
};

/// One pass over the memory. Plain code: the compiler makes vectors of it, and from a few thousand numbers on the
/// memory is the limit, not the arithmetic.
void update(Parameter& p, float* first, float* second, const Step& s) {
  float* value = p.value.data();
  const float* gradient = p.gradient.data();
  for_pieces(p.size(), 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float g = gradient[i] + s.penalty * value[i];
      const float m = s.beta1 * first[i] + (1.0f - s.beta1) * g;
      const float v = s.beta2 * second[i] + (1.0f - s.beta2) * g * g;
      first[i] = m;
      second[i] = v;
      value[i] = s.keep * value[i] - s.rate * m / (std::sqrt(v) + s.epsilon);
    }
  });
}

}  // namespace

Adam::Adam(Parameters& parameters, const AdamOptions& options) : parameters_(&parameters), options_(options) {
  const auto fraction = [](float x) { return x >= 0.0f && x < 1.0f; };
  expect(fraction(options.beta1) && fraction(options.beta2), "adam: beta1 and beta2 must be in [0, 1), not {} and {}",
         options.beta1, options.beta2);
  expect(options.epsilon > 0.0f && options.decay >= 0.0f,
         "adam: epsilon must be positive and decay not negative, not {} and {}", options.epsilon, options.decay);
}

const Adam::Moments* Adam::find(const Parameter& parameter) const {
  const auto found = moments_.find(&parameter);
  return found == moments_.end() ? nullptr : &found->second;
}

void Adam::restore(const Parameter& parameter, Moments moments) {
  const size_t size = parameter.value.size();
  expect(moments.first.size() == size && moments.second.size() == size, ErrorKind::file,
         "adam: moments of {} and {} numbers for the parameter '{}' of {}", moments.first.size(), moments.second.size(),
         parameter.name, size);
  moments_[&parameter] = std::move(moments);
}

void Adam::step(float rate) {
  for (Parameter& p : *parameters_) {
    if (!p.has_gradient || !p.trainable) continue;
    Moments& moments = moments_[&p];
    if (moments.steps == 0) {
      moments.first.assign(p.value.size(), 0.0f);
      moments.second.assign(p.value.size(), 0.0f);
    }
    const int64_t t = ++moments.steps;
    const double root = std::sqrt(1.0 - exact::power(static_cast<double>(options_.beta2), t));
    const float decay = p.shape.size() == 1 && !options_.decay_vectors ? 0.0f : options_.decay;
    update(p, moments.first.data(), moments.second.data(),
           {.beta1 = options_.beta1,
            .beta2 = options_.beta2,
            .rate = static_cast<float>(rate * root / (1.0 - exact::power(static_cast<double>(options_.beta1), t))),
            .epsilon = static_cast<float>(options_.epsilon * root),
            .keep = options_.decoupled ? 1.0f - rate * decay : 1.0f,
            .penalty = options_.decoupled ? 0.0f : decay});
    p.has_gradient = false;
  }
}

}  // namespace heed::optimise
