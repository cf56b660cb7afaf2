// i = s(W_ii x + b_ii + W_hi h + b_hi)        s: sigmoid
// f = s(W_if x + b_if + W_hf h + b_hf)
// g = tanh(W_ig x + b_ig + W_hg h + b_hg)
// o = s(W_io x + b_io + W_ho h + b_ho)
// c' = f c + i g                              h' = o tanh(c')
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/lstm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/op/recurrent_run.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

void LstmCell(const RecurrentStep& s, int64_t begin, int64_t end) {
  const RecurrentRun& run = s.run;
  const int64_t size = run.hidden;
  const float* bias = run.state_bias;
  for (int64_t place = begin; place < end; ++place) {
    const int64_t row = run.row(place, s.t);
    float* gate = run.gate + row * 4 * size;
    float* c_kept = run.extra + row * size;
    const float* inner = s.inner + place * 4 * size;
    float* state = s.h + place * size;
    float* c_state = s.c + place * size;
    float* out = run.rows.row(row);
    ForVectors(size, [=](int64_t j, auto at) HWY_ATTR {
      const auto inside = [=](int64_t k) HWY_ATTR {
        return hn::Add(at.load(gate + k), hn::Add(at.load(inner + k), at.load(bias + k)));
      };
      const V32 i = Sigmoid(inside(j));
      const V32 f = Sigmoid(inside(size + j));
      const V32 g = Tanh(inside(2 * size + j));
      const V32 o = Sigmoid(inside(3 * size + j));
      const V32 c = hn::MulAdd(f, at.load(c_state + j), hn::Mul(i, g));
      const V32 h = hn::Mul(o, Tanh(c));
      at.store(i, gate + j);
      at.store(f, gate + size + j);
      at.store(g, gate + 2 * size + j);
      at.store(o, gate + 3 * size + j);
      at.store(c, c_kept + j);
      at.store(c, c_state + j);
      at.store(h, state + j);
      at.store(h, out + j);
    });
  }
}

/// With a_i, a_f, a_g, a_o for what is inside the functions above and d = d_h':
///   d_c' += d o (1 - tanh(c')^2)
///   d_a_i = d_c' g i (1 - i)   d_a_f = d_c' c f (1 - f)   d_a_g = d_c' i (1 - g^2)   d_a_o = d tanh(c') o (1 - o)
///   d_c = d_c' f               d_h = W_h^T (d_a_i, d_a_f, d_a_g, d_a_o)
void LstmCellBackward(const RecurrentStep& s, int64_t begin, int64_t end) {
  const RecurrentRun& run = s.run;
  const int64_t size = run.hidden;
  const F32 d;
  const V32 one = hn::Set(d, 1.0f);
  for (int64_t place = begin; place < end; ++place) {
    const int64_t row = run.row(place, s.t);
    float* gate = run.gate + row * 4 * size;
    const float* c_kept = run.extra + row * size;
    const float* c_before = s.t > 0       ? run.extra + run.row_before(place, s.t) * size
                            : run.start.c ? run.start.c.row(run.order[place])
                                          : nullptr;
    float* d_inner = s.inner + place * 4 * size;
    float* d_state = s.h + place * size;
    float* d_c_state = s.c + place * size;
    const float* d_row = s.d_rows ? s.d_rows + row * size : nullptr;
    ForVectors(size, [=](int64_t j, auto at) HWY_ATTR {
      const V32 i = at.load(gate + j), f = at.load(gate + size + j);
      const V32 g = at.load(gate + 2 * size + j), o = at.load(gate + 3 * size + j);
      const V32 before = c_before ? at.load(c_before + j) : hn::Zero(d);
      const V32 tanh_c = Tanh(at.load(c_kept + j));
      const V32 d_h = d_row ? hn::Add(at.load(d_state + j), at.load(d_row + j)) : at.load(d_state + j);
      const V32 d_c = hn::MulAdd(hn::Mul(d_h, o), hn::NegMulAdd(tanh_c, tanh_c, one), at.load(d_c_state + j));
      const V32 d_i = hn::Mul(hn::Mul(d_c, g), hn::Mul(i, hn::Sub(one, i)));
      const V32 d_f = hn::Mul(hn::Mul(d_c, before), hn::Mul(f, hn::Sub(one, f)));
      const V32 d_g = hn::Mul(hn::Mul(d_c, i), hn::NegMulAdd(g, g, one));
      const V32 d_o = hn::Mul(hn::Mul(d_h, tanh_c), hn::Mul(o, hn::Sub(one, o)));
      const auto keep = [=](V32 v, int64_t k) HWY_ATTR {
        at.store(v, gate + k);
        at.store(v, d_inner + k);
      };
      keep(d_i, j);
      keep(d_f, size + j);
      keep(d_g, 2 * size + j);
      keep(d_o, 3 * size + j);
      at.store(hn::Mul(d_c, f), d_c_state + j);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(LstmCell);
HWY_EXPORT(LstmCellBackward);

void cell(const RecurrentStep& s, int64_t begin, int64_t end) { HWY_DYNAMIC_DISPATCH(LstmCell)(s, begin, end); }
void cell_backward(const RecurrentStep& s, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(LstmCellBackward)(s, begin, end);
}

constexpr RecurrentKind kLstm = {.gates = 4, .forward = cell, .backward = cell_backward, .adds = false};

}  // namespace

RecurrentResult lstm(const Packed& x, const RecurrentWeights& w, const RecurrentState& start, bool backwards) {
  return run_recurrent("lstm", kLstm,
                       {.w = w, .start = start, .x = x.rows, .offsets = x.offsets, .backwards = backwards});
}

RecurrentState lstm_step(Tensor x, const RecurrentWeights& w, const RecurrentState& state) {
  return step_recurrent("lstm_step", kLstm, {.w = w, .start = state, .x = x, .offsets = {}});
}

}  // namespace heed
#endif
