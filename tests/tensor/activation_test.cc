#include "heed/tensor/op/activation.h"

#include <limits>

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

struct Kind {
  Activation f;
  double (*value)(double);
};

const Kind kKinds[] = {
    {Activation::identity, [](double x) { return x; }},
    {Activation::tanh, [](double x) { return std::tanh(x); }},
    {Activation::relu, [](double x) { return std::max(x, 0.0); }},
    {Activation::sigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {Activation::gelu, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
    {Activation::silu, [](double x) { return x / (1.0 + std::exp(-x)); }},
    {Activation::gelu_tanh,
     [](double x) {
       return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
     }},
    {Activation::gelu_sigmoid, [](double x) { return x / (1.0 + std::exp(-1.702 * x)); }},
};

TEST(Activation, AllKinds) {
  for (const Kind& kind : kKinds)
    for (const auto& [n, d] : {std::pair<int64_t, int64_t>{0, 3}, {1, 1}, {7, 9}, {63, 1}, {1, 65}})
      for (const double deviation : {0.2, 3.0}) {
        SCOPED_TRACE(static_cast<int>(kind.f));
        check_gradients(
            {random(n, d, deviation)}, [&](Tape&, const Tensors& in) -> Tensors { return {activate(in[0], kind.f)}; },
            [&](const Matrices& in) -> Matrices {
              return {
                  make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return kind.value(in[0](r, c)); })};
            });
      }
}

TEST(Activation, TwoUsesOfOneInput) {
  check_gradients(
      {random(3, 21)},
      [](Tape&, const Tensors& in) -> Tensors {
        return {tanh(in[0]), gelu(in[0]), relu(tanh(in[0]))};
      },
      [](const Matrices& in) -> Matrices {
        const auto map = [&](auto f) {
          return make_matrix(3, 21, [&](int64_t r, int64_t c) { return f(in[0](r, c)); });
        };
        return {map([](double x) { return std::tanh(x); }), map(kKinds[4].value),
                map([](double x) { return std::max(0.0, std::tanh(x)); })};
      });
}

TEST(Activation, FarAway) {
  const std::vector<float> x = {-1e30f, -200.0f, -50.0f, 50.0f, 200.0f, 1e30f, 0.0f, -0.0f};
  on_every_isa([&] {
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(static_cast<int>(kind.f));
      Tape tape;
      const Tensor in = tape.input(x.data(), 1, 8, true);
      const Tensor y = activate(in, kind.f);
      for (int i = 0; i < 8; ++i) {
        const double expected = kind.value(x[i]);
        EXPECT_NEAR(y.data()[i], expected, 1e-6 * std::abs(expected) + 1e-12) << x[i];
      }
      const std::vector<float> ones(8, 1.0f);
      tape.seed_gradient(y, ones.data());
      tape.run();
      for (int i = 0; i < 8; ++i) EXPECT_TRUE(std::isfinite(in.gradient()[i])) << x[i];
    }
  });
}

TEST(Activation, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  on_every_isa([&] {
    for (const Kind& kind : kKinds) {
      Tape tape;
      EXPECT_TRUE(std::isnan(activate(tape.input(&nan, 1, 1), kind.f).item())) << static_cast<int>(kind.f);
    }
  });
}

TEST(Activation, AnyNumberOfThreads) {
  check_threads({random(301, 337)}, [](Tape&, const Tensors& in) -> Tensors {
    Tensors out;
    for (const Kind& kind : kKinds) out.push_back(activate(in[0], kind.f));
    return out;
  });
}

TEST(Activation, Errors) {
  expect_error([] { tanh(Tensor()); }, "activate: x is empty");
}

}  // namespace
}  // namespace heed::test
