// GRU and LSTM: against the plain reference, against PyTorch (tests/golden/make_layers.py), and step by step.
#include "heed/layer/recurrent.h"

#include <fstream>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"
#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

using Kind = RecurrentOptions::Kind;
using Json = nlohmann::json;

std::vector<int64_t> offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// The states behind x in a list of inputs: all h, then all c.
struct Starts {
  std::vector<RecurrentState> states;
  Starts(const Tensors& inputs, size_t cells, bool lstm) {
    if (inputs.size() == 1) return;
    for (size_t i = 0; i < cells; ++i) states.push_back({inputs[1 + i], lstm ? inputs[1 + cells + i] : Tensor()});
  }
};

/// rows, all h, all c: the outputs in one list.
Tensors all_of(const RecurrentOutput& out, bool lstm) {
  Tensors list = {out.rows};
  for (const RecurrentState& state : out.states) list.push_back(state.h);
  if (lstm)
    for (const RecurrentState& state : out.states) list.push_back(state.c);
  return list;
}

/// What run() must do with these options on sequences of these lengths.
LayerCase recurrent_case(Parameters& all, const Recurrent& layer, const std::vector<int64_t>& lengths,
                         bool with_start) {
  const RecurrentOptions o = layer.options();
  const bool lstm = o.kind == Kind::lstm;
  const std::vector<int64_t> offsets = offsets_of(lengths);
  const auto cells = static_cast<size_t>(o.layers * o.directions());
  const auto batch = static_cast<int64_t>(lengths.size());
  Matrices inputs = {random(offsets.back(), o.input)};
  if (with_start)
    for (size_t i = 0; i < cells * (lstm ? 2 : 1); ++i) inputs.push_back(random(batch, o.hidden));

  const RecurrentReference reference{lstm, o.hidden, o.layers, o.directions(), offsets};
  return {&all, inputs,
          [=, &layer](Tape& tape, const Tensors& x) {
            const Starts start(x, cells, lstm);
            return all_of(layer.run({x[0], tape.offsets(offsets)}, start.states), lstm);
          },
          [=](const Weights& w, const Matrices& x) {
            Matrices h, c;
            if (x.size() > 1) h.assign(x.begin() + 1, x.begin() + 1 + cells);
            if (x.size() > 1 && lstm) c.assign(x.begin() + 1 + cells, x.end());
            const RecurrentReference::Result result = reference.run(x[0], w, h, c);
            Matrices list = {result.rows};
            list.insert(list.end(), result.h.begin(), result.h.end());
            if (lstm) list.insert(list.end(), result.c.begin(), result.c.end());
            return list;
          }};
}

using RecurrentChoice = std::tuple<Kind, int64_t, bool, bool>;  // kind, layers, bidirectional, with a start
class Recurrents : public testing::TestWithParam<RecurrentChoice> {
 protected:
  RecurrentOptions options() const {
    const auto [kind, layers, bidirectional, with_start] = GetParam();
    return {.kind = kind, .input = 3, .hidden = 5, .layers = layers, .bidirectional = bidirectional};
  }
};

TEST_P(Recurrents, ValuesAndGradients) {
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{4, 1, 0, 3}, std::vector<int64_t>{2, 2}, std::vector<int64_t>{0, 1}}) {
    SCOPED_TRACE(testing::PrintToString(lengths));
    Parameters all(4);
    const Recurrent layer(all, options());
    scatter(all);
    LayerCase c = recurrent_case(all, layer, lengths, std::get<3>(GetParam()));
    check_layer(c);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recurrents,
                         testing::Combine(testing::Values(Kind::gru, Kind::lstm), testing::Values(1, 2),
                                          testing::Bool(), testing::Bool()));

TEST(Recurrent, NamesAndStartOfParameters) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    Parameters all(4);
    const Recurrent layer(Scope(all) / "encoder",
                          {.kind = kind, .input = 30, .hidden = 20, .layers = 2, .bidirectional = true});
    std::vector<std::string> expected;
    for (const char* cell : {"0.forward", "0.backward", "1.forward", "1.backward"})
      for (const char* part : {"input.weight", "state.weight", "input.bias", "state.bias"})
        expected.push_back(std::string("encoder.") + cell + "." + part);
    EXPECT_EQ(names(all), expected);

    const int64_t gates = kind == Kind::gru ? 3 : 4;
    EXPECT_EQ(all.at("encoder.0.forward.input.weight").shape, (std::vector<int64_t>{gates * 20, 30}));
    EXPECT_EQ(all.at("encoder.1.forward.input.weight").shape, (std::vector<int64_t>{gates * 20, 40}));
    EXPECT_EQ(all.at("encoder.1.backward.state.weight").shape, (std::vector<int64_t>{gates * 20, 20}));
    const std::vector<float>& input = all.at("encoder.0.forward.input.weight").value;
    EXPECT_NEAR(*std::max_element(input.begin(), input.end()), std::sqrt(6.0 / (20 + 30)), 2e-3);
    const Parameter& state = all.at("encoder.0.forward.state.weight");
    for (int64_t r = 0; r < state.rows(); ++r) {
      double square = 0.0;
      for (int64_t c = 0; c < 20; ++c) square += std::pow(state.value[r * 20 + c], 2);
      EXPECT_NEAR(square, 1.0, 1e-6);
    }
    std::vector<float> bias(static_cast<size_t>(gates * 20), 0.0f);
    EXPECT_EQ(all.at("encoder.1.forward.state.bias").value, bias);
    if (kind == Kind::lstm) std::fill(bias.begin() + 20, bias.begin() + 40, 1.0f);
    EXPECT_EQ(all.at("encoder.1.forward.input.bias").value, bias);
  }
}

TEST(Recurrent, InitialValuesDoNotDependOnTheOrder) {
  const RecurrentOptions options{.input = 3, .hidden = 4, .layers = 2};
  Parameters one(9), two(9);
  Recurrent(Scope(one) / "a", options), Recurrent(Scope(one) / "b", options);
  Recurrent(Scope(two) / "b", options), Recurrent(Scope(two) / "a", options);
  for (const Parameter& p : one) EXPECT_EQ(p.value, two.at(p.name).value) << p.name;
  EXPECT_NE(one.at("a.0.forward.input.weight").value, one.at("b.0.forward.input.weight").value);
}

struct Size {
  int64_t batch, length, input, hidden;
};

/// run() and a loop of step() on the same numbers: outputs, states and gradients.
void expect_steps_equal_run(Kind kind, const Size& size) {
  Parameters all(4);
  const Recurrent layer(all, {.kind = kind, .input = size.input, .hidden = size.hidden, .layers = 2});
  scatter(all);
  const int64_t tokens = size.batch * size.length, h = size.hidden;
  const std::vector<float> x = to_float(random(tokens, size.input));
  const std::vector<float> up = to_float(random(tokens, h));

  Tape tape;
  all.forget_gradients();
  const Tensor input = tape.input(x.data(), tokens, size.input, true);
  const RecurrentOutput whole = layer.run({input, tape.even_offsets(size.batch, size.length)});
  tape.seed_gradient(whole.rows, up.data());
  tape.run();
  std::vector<std::vector<double>> gradients;
  for (const Parameter& p : all) gradients.emplace_back(p.gradient.begin(), p.gradient.end());
  const std::vector<double> d_input(input.gradient(), input.gradient() + input.size());

  Tape steps;
  all.forget_gradients();
  const Tensor again = steps.input(x.data(), tokens, size.input, true);
  RecurrentStates states = layer.zero_states(steps, size.batch);
  for (int64_t t = 0; t < size.length; ++t) {
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < size.batch; ++b) rows.push_back(b * size.length + t);
    const RecurrentOutput out = layer.step(gather_rows(again, rows), states);
    states = out.states;
    std::vector<float> up_step;
    std::vector<double> expected;
    for (const int64_t row : rows) {
      expected.insert(expected.end(), whole.rows.row(row), whole.rows.row(row) + h);
      up_step.insert(up_step.end(), up.begin() + row * h, up.begin() + (row + 1) * h);
    }
    expect_near({out.rows.data(), expected.size()}, expected, "rows of step " + std::to_string(t), kValueTolerance);
    steps.seed_gradient(out.rows, up_step.data());
  }
  steps.run();
  const Tensors last = all_of({whole.rows, states}, kind == Kind::lstm);
  const Tensors expected = all_of(whole, kind == Kind::lstm);
  for (size_t i = 1; i < last.size(); ++i) {
    const std::vector<double> values(expected[i].data(), expected[i].data() + expected[i].size());
    expect_near({last[i].data(), values.size()}, values, "last state", kValueTolerance);
  }
  size_t i = 0;
  for (const Parameter& p : all) expect_near(p.gradient, gradients[i++], "d_" + p.name, kGradientTolerance);
  expect_near({again.gradient(), d_input.size()}, d_input, "d_x", kGradientTolerance);
}

TEST(Recurrent, StepByStepIsTheWhole) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    expect_steps_equal_run(kind, {.batch = 3, .length = 4, .input = 3, .hidden = 5});
    expect_steps_equal_run(kind, {.batch = 1, .length = 3, .input = 65, .hidden = 63});
    expect_steps_equal_run(kind, {.batch = 7, .length = 5, .input = 63, .hidden = 65});
  }
}

TEST(Recurrent, GoldenValuesOfPyTorch) {
  const Json golden = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/layers.json")).at("recurrent");
  ASSERT_GT(golden.size(), 3u);
  for (const Json& json : golden) {
    const bool lstm = json.at("kind") == "lstm";
    const RecurrentOptions options{.kind = lstm ? Kind::lstm : Kind::gru,
                                   .input = json.at("input"),
                                   .hidden = json.at("hidden"),
                                   .layers = json.at("layers"),
                                   .bidirectional = json.at("bidirectional")};
    Parameters all;
    const Recurrent layer(all, options);
    ASSERT_EQ(all.size(), json.at("parameters").size());
    for (const auto& [name, values] : json.at("parameters").items())
      all.at(name).value = values.get<std::vector<float>>();

    // States are [cells, batch, hidden] one after the other, ours a tensor for each cell.
    const std::vector<int64_t> offsets = offsets_of(json.at("lengths").get<std::vector<int64_t>>());
    const auto batch = static_cast<int64_t>(offsets.size()) - 1;
    const auto cells = static_cast<size_t>(options.layers * options.directions());
    const auto size = static_cast<size_t>(batch * options.hidden);
    Tape tape;
    const auto x = json.at("x").get<std::vector<float>>();
    const Tensor input = tape.input(x.data(), offsets.back(), options.input, true);
    const auto start_h = json.at("start").value("h", std::vector<float>());
    const auto start_c = json.at("start").value("c", std::vector<float>());
    std::vector<RecurrentState> start;
    const auto part = [&](const std::vector<float>& values, size_t i) {
      return values.empty() ? Tensor() : tape.input(values.data() + i * size, batch, options.hidden, true);
    };
    for (size_t i = 0; i < cells && !start_h.empty(); ++i) start.push_back({part(start_h, i), part(start_c, i)});
    const RecurrentOutput out = layer.run({input, tape.offsets(offsets)}, start);

    const auto check = [&](const float* got, const Json& theirs, size_t i, size_t count, const std::string& what) {
      const auto all_values = theirs.get<std::vector<double>>();
      ASSERT_NE(got, nullptr) << what;
      ASSERT_LE((i + 1) * count, all_values.size()) << what;
      expect_near({got, count}, {all_values.begin() + i * count, all_values.begin() + (i + 1) * count}, what,
                  kGradientTolerance);
    };
    const auto up_rows = json.at("upstream").at("rows").get<std::vector<float>>();
    const auto up_h = json.at("upstream").at("h").get<std::vector<float>>();
    const auto up_c = json.at("upstream").value("c", std::vector<float>());
    check(out.rows.data(), json.at("results").at("rows"), 0, up_rows.size(), "rows");
    tape.seed_gradient(out.rows, up_rows.data());
    for (size_t i = 0; i < cells; ++i) {
      check(out.states[i].h.data(), json.at("results").at("h"), i, size, "h");
      tape.seed_gradient(out.states[i].h, up_h.data() + i * size);
      if (!lstm) continue;
      check(out.states[i].c.data(), json.at("results").at("c"), i, size, "c");
      tape.seed_gradient(out.states[i].c, up_c.data() + i * size);
    }
    tape.run();
    for (const Parameter& p : all) check(p.gradient.data(), json.at("gradients").at(p.name), 0, p.value.size(), p.name);
    check(input.gradient(), json.at("d_x"), 0, x.size(), "d_x");
    for (size_t i = 0; i < start.size(); ++i) {
      check(start[i].h.gradient(), json.at("d_start").at("h"), i, size, "d_start_h");
      if (lstm) check(start[i].c.gradient(), json.at("d_start").at("c"), i, size, "d_start_c");
    }
  }
}

TEST(Recurrent, DropoutStandsBetweenLayersOnly) {
  const std::vector<float> x = to_float(random(6, 3));
  const auto run = [&](int64_t layers, bool training, uint64_t seed) {
    Parameters all(4);
    const Recurrent layer(all, {.kind = Kind::gru, .input = 3, .hidden = 5, .layers = layers, .dropout = 0.5f});
    Tape tape({.training = training, .seed = seed});
    const Tensor rows = layer.run({tape.input(x.data(), 6, 3), tape.even_offsets(2, 3)}).rows;
    return std::vector<float>(rows.data(), rows.data() + rows.size());
  };
  EXPECT_EQ(run(1, true, 1), run(1, false, 1));
  EXPECT_EQ(run(2, true, 1), run(2, true, 1));
  EXPECT_NE(run(2, true, 1), run(2, true, 2));
  EXPECT_NE(run(2, true, 1), run(2, false, 1));
}

TEST(Recurrent, RefusesWhatCannotBe) {
  Parameters all(4);
  EXPECT_THROW(Recurrent(all, {.input = 0, .hidden = 2}), Error);
  EXPECT_THROW(Recurrent(all, {.input = 2, .hidden = 0}), Error);
  EXPECT_THROW(Recurrent(all, {.input = 2, .hidden = 2, .layers = 0}), Error);
  const Recurrent both(Scope(all) / "both", {.input = 2, .hidden = 2, .bidirectional = true});
  const Recurrent one(Scope(all) / "one", {.input = 2, .hidden = 2});
  const Recurrent small(Scope(all) / "small", {.kind = Kind::gru, .input = 2, .hidden = 2});
  Tape tape;
  const Tensor x = tape.filled(3, 2, 0.0f);
  EXPECT_THROW(both.step(x, both.zero_states(tape, 3)), Error);
  EXPECT_THROW(one.step(x, {}), Error);
  EXPECT_THROW(one.step(x, one.zero_states(tape, 2)), Error);
  EXPECT_THROW(one.step(x, small.zero_states(tape, 3)), Error) << "a GRU's state has no c";
  EXPECT_THROW(both.run({x, tape.even_offsets(1, 3)}, one.zero_states(tape, 1)), Error);
}

}  // namespace
}  // namespace heed::test
