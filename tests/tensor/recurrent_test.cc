#include "heed/tensor/op/recurrent.h"

#include "heed/tensor/op/arrange.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct RecurrentCase {
  bool is_lstm;
  std::vector<int64_t> at;  // offsets
  int64_t in, hidden;
  bool backwards = false;
  bool with_start = true;
  bool with_bias = true;

  int64_t sequences() const { return static_cast<int64_t>(at.size()) - 1; }
  int64_t gates() const { return is_lstm ? 4 : 3; }
};

/// Inputs in this order: x, input weight, state weight, [input bias, state bias], [h, [c]].
Matrices inputs_of(const RecurrentCase& c) {
  const int64_t wide = c.gates() * c.hidden;
  Matrices in = {random(c.at.back(), c.in), random(wide, c.in, 0.5), random(wide, c.hidden, 0.5)};
  if (c.with_bias) in.insert(in.end(), {random(1, wide, 0.5), random(1, wide, 0.5)});
  if (c.with_start) in.push_back(random(c.sequences(), c.hidden));
  if (c.with_start && c.is_lstm) in.push_back(random(c.sequences(), c.hidden));
  return in;
}

template <class T>
struct Named {
  T x, input, state, input_bias{}, state_bias{}, h{}, c{};

  Named(const RecurrentCase& of, const std::vector<T>& in) : x(in[0]), input(in[1]), state(in[2]) {
    size_t next = 3;
    if (of.with_bias) {
      input_bias = in[next++];
      state_bias = in[next++];
    }
    if (of.with_start) h = in[next++];
    if (of.with_start && of.is_lstm) c = in[next++];
  }
};

/// One step of one sequence, written from the formulas. h and c are changed.
void step(const RecurrentCase& of, const Named<Matrix>& in, int64_t row, std::vector<double>& h,
          std::vector<double>& c) {
  const int64_t size = of.hidden;
  const auto from_input = [&](int64_t g) {
    double sum = of.with_bias ? in.input_bias(0, g) : 0.0;
    for (int64_t i = 0; i < of.in; ++i) sum += in.input(g, i) * in.x(row, i);
    return sum;
  };
  const std::vector<double> before = h;
  const auto from_state = [&](int64_t g) {
    double sum = of.with_bias ? in.state_bias(0, g) : 0.0;
    for (int64_t i = 0; i < size; ++i) sum += in.state(g, i) * before[static_cast<size_t>(i)];
    return sum;
  };
  for (int64_t j = 0; j < size; ++j) {
    const auto at = static_cast<size_t>(j);
    const auto both = [&](int64_t g) { return from_input(g * size + j) + from_state(g * size + j); };
    if (of.is_lstm) {
      c[at] = logistic(both(1)) * c[at] + logistic(both(0)) * std::tanh(both(2));
      h[at] = logistic(both(3)) * std::tanh(c[at]);
    } else {
      const double r = logistic(both(0)), z = logistic(both(1));
      const double n = std::tanh(from_input(2 * size + j) + r * from_state(2 * size + j));
      h[at] = (1.0 - z) * n + z * before[at];
    }
  }
}

/// rows, last h, [last c]
Matrices reference(const RecurrentCase& of, const Matrices& inputs) {
  const Named<Matrix> in(of, inputs);
  Matrices out = {Matrix(of.at.back(), of.hidden), Matrix(of.sequences(), of.hidden)};
  if (of.is_lstm) out.push_back(Matrix(of.sequences(), of.hidden));
  for (int64_t b = 0; b < of.sequences(); ++b) {
    std::vector<double> h(static_cast<size_t>(of.hidden), 0.0), c = h;
    for (int64_t j = 0; j < of.hidden && of.with_start; ++j) {
      h[static_cast<size_t>(j)] = in.h(b, j);
      if (of.is_lstm) c[static_cast<size_t>(j)] = in.c(b, j);
    }
    const int64_t first = of.at[static_cast<size_t>(b)], last = of.at[static_cast<size_t>(b) + 1];
    for (int64_t t = 0; t < last - first; ++t) {
      const int64_t row = of.backwards ? last - 1 - t : first + t;
      step(of, in, row, h, c);
      for (int64_t j = 0; j < of.hidden; ++j) out[0](row, j) = h[static_cast<size_t>(j)];
    }
    for (int64_t j = 0; j < of.hidden; ++j) {
      out[1](b, j) = h[static_cast<size_t>(j)];
      if (of.is_lstm) out[2](b, j) = c[static_cast<size_t>(j)];
    }
  }
  return out;
}

RecurrentResult run_op(const RecurrentCase& of, Tape& tape, const Tensors& inputs) {
  const Named<Tensor> in(of, inputs);
  const RecurrentWeights w{in.input, in.state, in.input_bias, in.state_bias};
  const Packed x{in.x, tape.offsets(of.at)};
  return of.is_lstm ? lstm(x, w, {in.h, in.c}, of.backwards) : gru(x, w, {in.h, {}}, of.backwards);
}

Tensors operation(const RecurrentCase& of, Tape& tape, const Tensors& inputs) {
  const RecurrentResult result = run_op(of, tape, inputs);
  Tensors out = {result.rows, result.state.h};
  if (of.is_lstm) out.push_back(result.state.c);
  return out;
}

std::vector<RecurrentCase> cases() {
  std::vector<RecurrentCase> all;
  for (const bool is_lstm : {false, true}) {
    for (const bool backwards : {false, true}) {
      all.push_back({is_lstm, {0, 3, 8, 8, 10, 15}, 4, 7, backwards});  // equal lengths, an empty sequence
      all.push_back({is_lstm, {0, 3, 8, 8, 10}, 5, 3, backwards, false});
    }
    all.push_back({is_lstm, {0, 1}, 1, 1});
    all.push_back({is_lstm, {0, 2, 5}, 3, 17, false, false, false});
    all.push_back({is_lstm, {0, 2, 3}, 7, 33});
    all.push_back({is_lstm, {0, 0, 0}, 3, 2});  // nothing but empty sequences
    all.push_back({is_lstm, {0}, 3, 2});        // no sequence
  }
  return all;
}

TEST(Recurrent, ValuesAndGradients) {
  int number = 0;
  for (const RecurrentCase& c : cases()) {
    SCOPED_TRACE(number++);
    check_gradients(
        inputs_of(c), [&](Tape& tape, const Tensors& in) { return operation(c, tape, in); },
        [&](const Matrices& in) { return reference(c, in); }, {.differences = 60});
  }
}

TEST(Recurrent, OnlySomeResultsAreUsed) {
  // A gradient that arrives at the rows alone, or at the last state alone: the others count as 0.
  for (const bool is_lstm : {false, true})
    for (size_t used = 0; used < (is_lstm ? 3u : 2u); ++used) {
      const RecurrentCase c{is_lstm, {0, 3, 4, 4}, 2, 5};
      check_gradients(
          inputs_of(c), [&](Tape& tape, const Tensors& in) -> Tensors { return {operation(c, tape, in)[used]}; },
          [&](const Matrices& in) -> Matrices { return {reference(c, in)[used]}; });
    }
}

/// The batch cut into sequences of one row each, or run step by step: gru_step and lstm_step.
TEST(Recurrent, StepsAreTheWholeBatch) {
  for (const bool is_lstm : {false, true}) {
    const int64_t batch = 5, length = 6;
    RecurrentCase c{is_lstm, {}, 9, 13};
    for (int64_t b = 0; b <= batch; ++b) c.at.push_back(b * length);
    const Matrices inputs = inputs_of(c);
    const Operation whole = [&](Tape& tape, const Tensors& in) { return operation(c, tape, in); };
    const Operation steps = [&](Tape&, const Tensors& in) -> Tensors {
      const Named<Tensor> named(c, in);
      const RecurrentWeights w{named.input, named.state, named.input_bias, named.state_bias};
      RecurrentState state{named.h, named.c};
      Tensors rows;
      for (int64_t t = 0; t < length; ++t) {
        std::vector<int64_t> now;
        for (int64_t b = 0; b < batch; ++b) now.push_back(b * length + t);
        const Tensor x = gather_rows(named.x, now);
        state = is_lstm ? lstm_step(x, w, state) : gru_step(x, w, state);
        rows.push_back(state.h);
      }
      std::vector<int64_t> order;  // from [t, b] to [b, t]
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t t = 0; t < length; ++t) order.push_back(t * batch + b);
      Tensors out = {gather_rows(concat_rows(rows), order), state.h};
      if (is_lstm) out.push_back(state.c);
      return out;
    };
    on_every_isa([&] {
      Matrices weights = {random(batch * length, 13), random(batch, 13), random(batch, 13)};
      const Outcome a = run(whole, inputs, weights), b = run(steps, inputs, weights);
      for (size_t o = 0; o < a.values.size(); ++o)
        for (size_t i = 0; i < a.values[o].size(); ++i) ASSERT_NEAR(a.values[o][i], b.values[o][i], 1e-6);
      for (size_t o = 0; o < a.gradients.size(); ++o)
        for (size_t i = 0; i < a.gradients[o].size(); ++i)
          ASSERT_NEAR(a.gradients[o][i], b.gradients[o][i], 1e-5 + 1e-5 * std::abs(a.gradients[o][i]));
    });
  }
}

TEST(Recurrent, StepGradients) {
  for (const bool is_lstm : {false, true}) {
    const RecurrentCase c{is_lstm, {0, 1, 2, 3}, 4, 7};
    check_gradients(
        inputs_of(c),
        [&](Tape&, const Tensors& in) -> Tensors {
          const Named<Tensor> named(c, in);
          const RecurrentWeights w{named.input, named.state, named.input_bias, named.state_bias};
          if (!is_lstm) return {gru_step(named.x, w, {named.h, {}}).h};
          const RecurrentState next = lstm_step(named.x, w, {named.h, named.c});
          return {next.h, next.c};
        },
        [&](const Matrices& in) -> Matrices {
          Matrices out = reference(c, in);
          out.erase(out.begin());
          return out;
        });
  }
}

TEST(Recurrent, LongSequencesOfAllLengths) {
  // Against the same sequences one by one: neighbours in a batch must not matter.
  for (const bool is_lstm : {false, true}) {
    RecurrentCase c{is_lstm, {0}, 20, 24};
    for (int64_t b = 0; b < 9; ++b) c.at.push_back(c.at.back() + (b * 7) % 23);
    const Matrices inputs = inputs_of(c);
    const Outcome all = run([&](Tape& tape, const Tensors& in) { return operation(c, tape, in); }, inputs, {});
    for (int64_t b = 0; b < c.sequences(); ++b) {
      const int64_t first = c.at[static_cast<size_t>(b)], length = c.at[static_cast<size_t>(b) + 1] - first;
      RecurrentCase one = c;
      one.at = {0, length};
      Matrices alone = inputs;
      alone[0] = make_matrix(length, 20, [&](int64_t r, int64_t k) { return inputs[0](first + r, k); });
      for (size_t s = 5; s < alone.size(); ++s)
        alone[s] = make_matrix(1, 24, [&](int64_t, int64_t k) { return inputs[s](b, k); });
      const Outcome part = run([&](Tape& tape, const Tensors& in) { return operation(one, tape, in); }, alone, {});
      for (size_t i = 0; i < part.values[0].size(); ++i)
        ASSERT_NEAR(part.values[0][i], all.values[0][static_cast<size_t>(first * 24) + i], 2e-6) << b;
      for (size_t i = 0; i < 24; ++i)
        ASSERT_NEAR(part.values[1][i], all.values[1][static_cast<size_t>(b) * 24 + i], 2e-6) << b;
    }
  }
}

TEST(Recurrent, AnyNumberOfThreads) {
  for (const bool is_lstm : {false, true}) {
    RecurrentCase c{is_lstm, {0}, 40, 72};
    for (int64_t b = 0; b < 70; ++b) c.at.push_back(c.at.back() + (b * 5) % 13);
    check_threads(inputs_of(c), [&](Tape& tape, const Tensors& in) { return operation(c, tape, in); });
  }
}

TEST(Recurrent, Errors) {
  Tape tape;
  const auto filled = [&](int64_t r, int64_t c) { return tape.filled(r, c, 0.0f); };
  const RecurrentWeights w{filled(12, 5), filled(12, 4), filled(1, 12), filled(1, 12)};
  const std::vector<int64_t> at = {0, 2, 3};
  const Packed x{filled(3, 5), tape.offsets(at)};
  expect_error([&] { gru({filled(3, 6), x.offsets}, w); }, "gru: x has 6 columns, the input weight [12, 5] needs 5");
  expect_error([&] { gru({filled(4, 5), x.offsets}, w); }, "gru: there are 4 rows, but the offsets cover 3");
  expect_error([&] { gru(x, w, {filled(3, 4), {}}); }, "gru: the state h is [3, 4], expected [2, 4]");
  expect_error([&] { lstm(x, w); }, "lstm: the state weight is [12, 4], expected [16, 4]");
  expect_error(
      [&] {
        gru(x, {w.input, w.state, filled(1, 11), {}});
      },
      "gru: the input bias is [1, 11], expected [1, 12]");
  expect_error([&] { gru({x.rows, {}}, w); }, "gru: the offsets are empty");
  expect_error([&] { gru_step(x.rows, w, {}); }, "gru_step: the state h is empty");
  expect_error([&] { lstm_step(x.rows, w, {filled(3, 4), {}}); }, "lstm_step: the state c is empty");
}

}  // namespace
}  // namespace heed::test
