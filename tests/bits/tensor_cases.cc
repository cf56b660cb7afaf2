// The operations of heed/tensor/op: what comes out, and the gradient of every input. Those that multiply by a weight
// also on a tape that does not record, where they take another path.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/tensor/format/all.h"
#include "heed/tensor/format/int8_view.h"
#include "heed/tensor/op/output_loss.h"
#include "heed/tensor/op/rotary.h"
#include "heed/tensor/ops.h"
#include "heed/tensor/product.h"
#include "heed/tensor/tape.h"
#include "tests/bits/bits.h"

namespace heed::bits {
namespace {

struct Input {
  std::string name;
  int64_t rows, cols;
  float reach = 1.0f;
};
using Tensors = std::vector<Tensor>;
using Operation = std::function<Tensors(Tape&, const Tensors&)>;

void run(const std::vector<Input>& inputs, const Operation& operation, bool training, Hashes& hashes) {
  Numbers numbers(23);
  std::vector<std::vector<float>> values;
  values.reserve(inputs.size());
  for (const Input& input : inputs) values.push_back(numbers.some(input.rows * input.cols, input.reach));
  Tape tape({.recording = training, .training = training, .seed = 5});
  Tensors in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(tape.input(values[i].data(), inputs[i].rows, inputs[i].cols, training));
  const Tensors out = operation(tape, in);
  const auto add = [&](const std::string& name, Tensor like, const float* data) {
    if (data) hashes.add(name, std::span<const float>(data, static_cast<size_t>(like.size())));
  };
  std::vector<std::vector<float>> d_out;
  for (size_t o = 0; o < out.size(); ++o) {
    add(o == 0 ? "out" : "out_" + std::to_string(o), out[o], out[o].data());
    d_out.push_back(numbers.some(out[o].size()));
    if (training) tape.seed_gradient(out[o], d_out.back().data());
  }
  if (!training) return;
  tape.run();
  for (size_t i = 0; i < inputs.size(); ++i) add("d_" + inputs[i].name, in[i], in[i].gradient());
}

class Cases {
 public:
  explicit Cases(std::vector<Case>& to) : to_(to) {}

  void add(const std::string& name, const std::vector<Input>& inputs, const Operation& operation) {
    to_.push_back({"tensor/" + name, [=](Hashes& hashes, int) { run(inputs, operation, true, hashes); }});
  }
  /// And for inference.
  void add_both(const std::string& name, const std::vector<Input>& inputs, const Operation& operation) {
    add(name, inputs, operation);
    to_.push_back(
        {"tensor/" + name + "/inference", [=](Hashes& hashes, int) { run(inputs, operation, false, hashes); }});
  }

 private:
  std::vector<Case>& to_;
};

std::vector<int32_t> classes(int64_t rows, int64_t count) {
  std::vector<int32_t> targets;
  for (int64_t r = 0; r < rows; ++r) targets.push_back(static_cast<int32_t>(r % 5 == 4 ? -1 : r * 7 % count));
  return targets;
}

void add_products(Cases& cases) {
  struct Size {
    int64_t rows, in, out;
  };
  for (const auto& [rows, in, out] :
       {Size{1, 1, 1}, {1, 64, 96}, {5, 7, 3}, {33, 65, 31}, {130, 256, 200}, {600, 48, 900}}) {
    const std::string size = std::to_string(rows) + "x" + std::to_string(in) + "x" + std::to_string(out);
    cases.add_both("linear/" + size, {{"x", rows, in}, {"weight", out, in}, {"bias", 1, out}},
                   [](Tape&, const Tensors& t) -> Tensors { return {linear(t[0], t[1], t[2])}; });
    cases.add_both("matmul/" + size, {{"a", rows, in}, {"b", in, out}},
                   [](Tape&, const Tensors& t) -> Tensors { return {matmul(t[0], t[1])}; });
  }
  cases.add_both("convolution", {{"x", 2 * 9 * 7, 5}, {"weight", 11, 3 * 3 * 5}, {"bias", 1, 11}},
                 [](Tape&, const Tensors& t) -> Tensors {
                   return {convolution(t[0], t[1], t[2], {.images = 2, .height = 9, .width = 7, .stride = 2})};
                 });
}

void add_recurrent(Cases& cases) {
  for (const bool is_lstm : {false, true})
    for (const bool backwards : {false, true}) {
      const int64_t hidden = 19, in = 13, wide = (is_lstm ? 4 : 3) * hidden;
      cases.add_both(std::string(is_lstm ? "lstm" : "gru") + (backwards ? "/backwards" : "/forwards"),
                     {{"x", 17, in},
                      {"input", wide, in},
                      {"state", wide, hidden},
                      {"input_bias", 1, wide},
                      {"state_bias", 1, wide},
                      {"h", 4, hidden},
                      {"c", 4, hidden}},
                     [=](Tape& tape, const Tensors& t) -> Tensors {
                       const std::array<int64_t, 5> offsets = {0, 6, 6, 7, 17};
                       const auto r = (is_lstm ? lstm : gru)({t[0], tape.offsets(offsets)}, {t[1], t[2], t[3], t[4]},
                                                             {t[5], is_lstm ? t[6] : Tensor()}, backwards);
                       return is_lstm ? Tensors{r.rows, r.state.h, r.state.c} : Tensors{r.rows, r.state.h};
                     });
    }
}

void add_element_wise(Cases& cases) {
  const std::vector<std::pair<std::string, Activation>> activations = {{"tanh", Activation::tanh},
                                                                       {"relu", Activation::relu},
                                                                       {"sigmoid", Activation::sigmoid},
                                                                       {"gelu", Activation::gelu},
                                                                       {"swish", Activation::silu}};
  for (const auto& [name, f] : activations)
    for (const int reach : {1, 6, 100})
      cases.add("activation/" + name + "_to_" + std::to_string(reach), {{"x", 21, 37, static_cast<float>(reach)}},
                [f = f](Tape&, const Tensors& t) -> Tensors { return {activate(t[0], f)}; });
  cases.add("arithmetic", {{"a", 9, 31}, {"b", 9, 31}, {"row", 1, 31}, {"column", 9, 1}, {"factor", 1, 1}},
            [](Tape&, const Tensors& t) -> Tensors {
              const Tensor difference = subtract(t[0], t[1]), total = add(t[0], t[1]);  // in this order
              const Tensor product = multiply(total, difference);
              return {scale(scale_rows(add_row(product, t[2]), t[3]), t[4]), sum(t[0]), mean(t[1]), sum_squares(t[0])};
            });
  cases.add("dropout", {{"x", 33, 41}}, [](Tape&, const Tensors& t) -> Tensors { return {dropout(t[0], 0.3f)}; });
}

void add_rows(Cases& cases) {
  for (const int64_t width : {1, 7, 64, 129}) {
    const std::string size = std::string("_").append(std::to_string(width));
    cases.add("layer_norm" + size, {{"x", 15, width}, {"gain", 1, width}, {"bias", 1, width}},
              [](Tape&, const Tensors& t) -> Tensors { return {layer_norm(t[0], t[1], t[2])}; });
    cases.add("rms_norm" + size, {{"x", 15, width}, {"gain", 1, width}},
              [](Tape&, const Tensors& t) -> Tensors { return {rms_norm(t[0], t[1])}; });
    cases.add("unit_rows" + size, {{"x", 15, width}},
              [](Tape&, const Tensors& t) -> Tensors { return {unit_rows(t[0])}; });
    cases.add("softmax_rows" + size, {{"x", 15, width, 8.0f}},
              [](Tape&, const Tensors& t) -> Tensors { return {softmax_rows(t[0])}; });
  }
  cases.add("cross_entropy", {{"logits", 23, 45, 6.0f}}, [](Tape& tape, const Tensors& t) -> Tensors {
    const std::vector<int32_t> targets = classes(23, 45);
    return {cross_entropy(t[0], {tape.keep(std::span<const int32_t>(targets)), targets.size()}, 0.1f)};
  });
  cases.add_both("output_loss", {{"x", 70, 24}, {"weight", 300, 24}, {"bias", 1, 300}},
                 [](Tape& tape, const Tensors& t) -> Tensors {
                   const std::vector<int32_t> targets = classes(70, 300);
                   return {output_loss(t[0], t[1], t[2], {tape.keep(std::span<const int32_t>(targets)), targets.size()},
                                       {.label_smoothing = 0.1f, .scale = 0.015625f})
                               .loss};
                 });
  cases.add("rotary", {{"x", 40, 3 * 14}}, [](Tape& tape, const Tensors& t) -> Tensors {
    auto* positions = tape.keep<int64_t>(40);
    for (int64_t r = 0; r < 40; ++r) positions[r] = r * r % 1000;
    return {rotate(t[0], positions, {.heads = 3})};
  });
}

void add_attention(Cases& cases) {
  const auto call = [](Tape& tape, const Tensors& t) {
    const std::array<int64_t, 4> queries = {0, 5, 6, 20}, keys = {0, 9, 10, 33};
    AttentionCall c;
    c.problem.shape.heads = 3;
    c.problem.score.scale = 0.25f;
    c.q = t[0], c.k = t[1], c.v = t[2];
    c.query_offsets = tape.offsets(queries), c.key_offsets = tape.offsets(keys);
    c.want_lse = true;
    return c;
  };
  const std::vector<Input> inputs = {{"q", 20, 3 * 16, 2.0f}, {"k", 33, 3 * 16, 2.0f}, {"v", 33, 3 * 8}};
  cases.add_both("attention/inner", inputs, [=](Tape& tape, const Tensors& t) -> Tensors {
    const AttentionResult r = attention(call(tape, t));
    return {r.out, r.lse};
  });
  std::vector<Input> additive = inputs;
  additive.push_back({"score_v", 3, 16});
  cases.add_both("attention/tanh_sum", additive, [=](Tape& tape, const Tensors& t) -> Tensors {
    AttentionCall c = call(tape, t);
    c.problem.score.kind = kernels::ScoreKind::tanh_sum;
    c.score_v = t[3];
    const AttentionResult r = attention(c);
    return {r.out, r.lse};
  });
}

/// Weights in int8: the same hashes for every instruction set, and for each way to multiply that it has.
void add_int8_products(std::vector<Case>& to) {
  struct Size {
    int64_t rows, in, out;
  };
  for (const auto& [rows, in, out] : {Size{1, 64, 96}, {2, 512, 130}, {5, 7, 3}, {33, 65, 31}, {130, 256, 200}})
    for (const WeightOrder order : {WeightOrder::out_in, WeightOrder::in_out}) {
      const std::string size = std::to_string(rows) + "x" + std::to_string(in) + "x" + std::to_string(out);
      const auto run = [rows = rows, in = in, out = out, order](Hashes& hashes, int) {
        Numbers numbers(29);
        const std::vector<float> x = numbers.some(rows * in), w = numbers.some(in * out), bias = numbers.some(out);
        const auto weight = int8_weights.pack({w.data(), in, out, order});
        std::vector<float> back(w.size()), y(static_cast<size_t>(rows * out));
        weight->unpack(order, back.data());
        hashes.add("weight", back);
        for (const QuadDots which : {QuadDots::never, QuadDots::always}) {
          use_quad_dots(which);
          multiply(*weight, {.rows = rows, .x = x.data(), .bias = bias.data(), .y = y.data()});
          hashes.add(which == QuadDots::never ? "pairs" : "quads", y);
        }
        use_quad_dots(QuadDots::of_cpu);
      };
      to.push_back({"tensor/int8/" + size + (order == WeightOrder::in_out ? "/in_out" : ""), run});
    }
}

}  // namespace

void add_tensor_cases(std::vector<Case>& to) {
  Cases cases(to);
  add_products(cases);
  add_recurrent(cases);
  add_element_wise(cases);
  add_rows(cases);
  add_attention(cases);
  add_int8_products(to);
}

}  // namespace heed::bits
