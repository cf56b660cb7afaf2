#include "tests/kernels/expect.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "heed/kernels/isa.h"
#include "tests/kernels/bounded.h"

namespace heed::kernels::test {

void on_every_isa(const std::function<void()>& body) {
  for (const std::string& name : available_isas()) {
    SCOPED_TRACE("HEED_ISA=" + name);
    ASSERT_TRUE(use_isa(name).ok());
    body();
    if (testing::Test::HasFatalFailure()) break;
  }
  ASSERT_TRUE(use_isa("").ok());
}

testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << a.size() << " and " << b.size() << " elements";
  for (size_t n = 0; n < a.size(); ++n)
    if (std::bit_cast<uint32_t>(a[n]) != std::bit_cast<uint32_t>(b[n]))
      return testing::AssertionFailure() << "element " << n << ": " << a[n] << " and " << b[n];
  return testing::AssertionSuccess();
}

namespace {

std::vector<double> values_of(const std::vector<Bounded>& numbers) {
  std::vector<double> values;
  values.reserve(numbers.size());
  for (const Bounded& number : numbers) values.push_back(number.value());
  return values;
}
std::vector<double> errors_of(const std::vector<Bounded>& numbers) {
  std::vector<double> errors;
  errors.reserve(numbers.size());
  for (const Bounded& number : numbers) errors.push_back(number.error());
  return errors;
}

void take(const Named<Bounded>& from, const Named<double>& values, std::vector<std::vector<double>>& bounds) {
  for (size_t n = 0; n < from.size(); ++n) {
    *values[n].second = values_of(*from[n].second);
    bounds.push_back(errors_of(*from[n].second));
  }
}

testing::AssertionResult named_close(const std::string& name, const std::vector<float>& got,
                                     const Named<double>& truths, const std::vector<std::vector<double>>& bounds) {
  size_t n = 0;
  while (truths[n].first != name) ++n;
  return close(name, got, *truths[n].second, bounds[n]);
}

}  // namespace

Expected::Expected(const Case& c, bool gradients) {
  const Values<Bounded> x = convert<Bounded>(c.x);
  Reference<Bounded> all;
  if (gradients)
    all = reference(c, x, convert<Bounded>(c.up));
  else
    all.results = reference_forward(c, x);
  truth.choice = all.results.choice;
  take(all.results.named(), truth.named(), bounds_);
  if (!gradients) return;
  d_truth.layer_weight.resize(all.grad.layer_weight.size());
  d_truth.layer_bias.resize(all.grad.layer_bias.size());
  take(all.grad.named(), d_truth.named(), d_bounds_);
}

void Expected::compare_results(Results<float>& got, bool weights) {
  const Named<float> g = got.named();
  const Named<double> t = truth.named();
  for (size_t n = 0; n < g.size(); ++n)
    if (g[n].first != "weights" || weights) {
      EXPECT_TRUE(close(g[n].first, *g[n].second, *t[n].second, bounds_[n]));
    }
  EXPECT_EQ(got.choice, truth.choice);
}

void Expected::compare_gradients(Values<float>& got) {
  const Named<float> g = got.named();
  const Named<double> t = d_truth.named();
  for (size_t n = 0; n < g.size(); ++n) EXPECT_TRUE(close("d_" + g[n].first, *g[n].second, *t[n].second, d_bounds_[n]));
}

testing::AssertionResult Expected::result_close(const std::string& name, const std::vector<float>& got) {
  return named_close(name, got, truth.named(), bounds_);
}
testing::AssertionResult Expected::gradient_close(const std::string& name, const std::vector<float>& got) {
  return named_close(name, got, d_truth.named(), d_bounds_);
}

void expect_like_reference(Case c, const Compare& what) {
  std::vector<Expected> kept;  // computed once, unless the choice is the library's
  on_every_isa([&] {
    Library library(c, what.layout, what.threads);
    const Status forward = library.forward();
    ASSERT_TRUE(forward.ok()) << forward.message();
    if (c.problem.normalise.kind == Normaliser::sampled && c.choice != library.results.choice) {
      c.choice = library.results.choice;
      kept.clear();
      for (int64_t b = 0; b < c.shape().batch; ++b)
        for (int64_t h = 0; h < c.shape().heads; ++h)
          for (int64_t i = 0; i < c.queries(b); ++i) {
            const int32_t choice = c.choice[c.query_row(b, h, i)];
            ASSERT_GE(choice, -1);
            ASSERT_LT(choice, c.keys(b));
            ASSERT_TRUE(choice < 0 || visible(c, b, h, i, choice)) << "chose a hidden key";
          }
    }
    if (kept.empty()) kept.emplace_back(c, what.gradients);
    if (what.weights) {
      const Status weights = library.weights();
      ASSERT_TRUE(weights.ok()) << weights.message();
    }
    kept[0].compare_results(library.results, what.weights);
    if (!what.gradients) return;
    const Status backward = library.backward();
    ASSERT_TRUE(backward.ok()) << backward.message();
    kept[0].compare_gradients(library.grad);
    EXPECT_TRUE(library.gaps_untouched);
  });
}

}  // namespace heed::kernels::test
