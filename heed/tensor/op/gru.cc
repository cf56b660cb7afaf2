// r = s(W_ir x + b_ir + W_hr h + b_hr)        s: sigmoid
// z = s(W_iz x + b_iz + W_hz h + b_hz)
// n = tanh(W_in x + b_in + r (W_hn h + b_hn))
// h' = (1 - z) n + z h
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/gru.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/op/recurrent_run.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

void GruCell(const RecurrentStep& s, int64_t begin, int64_t end) {
  const RecurrentRun& run = s.run;
  const int64_t size = run.hidden;
  const float* bias = run.state_bias;
  for (int64_t place = begin; place < end; ++place) {
    const int64_t row = run.row(place, s.t);
    float* gate = run.gate + row * 3 * size;
    float* hn_kept = run.extra + row * size;
    const float* inner = s.inner + place * 3 * size;
    float* state = s.h + place * size;
    float* out = run.rows.row(row);
    ForVectors(size, [=](int64_t i, auto at) HWY_ATTR {
      const auto inside = [=](int64_t j) HWY_ATTR { return hn::Add(at.load(inner + j), at.load(bias + j)); };
      const V32 r = Sigmoid(hn::Add(at.load(gate + i), inside(i)));
      const V32 z = Sigmoid(hn::Add(at.load(gate + size + i), inside(size + i)));
      const V32 hn_sum = inside(2 * size + i);
      const V32 n = Tanh(hn::MulAdd(r, hn_sum, at.load(gate + 2 * size + i)));
      const V32 h = hn::MulAdd(z, hn::Sub(at.load(state + i), n), n);
      at.store(r, gate + i);
      at.store(z, gate + size + i);
      at.store(n, gate + 2 * size + i);
      at.store(hn_sum, hn_kept + i);
      at.store(h, state + i);
      at.store(h, out + i);
    });
  }
}

/// With a_r, a_z, a_n for what is inside the functions above, hn = W_hn h + b_hn and d = d_h':
///   d_a_n = d (1 - z) (1 - n^2)     d_hn = d_a_n r       d_a_z = d (h - n) z (1 - z)
///   d_a_r = d_a_n hn r (1 - r)      d_h = d z + W_h^T (d_a_r, d_a_z, d_hn)
void GruCellBackward(const RecurrentStep& s, int64_t begin, int64_t end) {
  const RecurrentRun& run = s.run;
  const int64_t size = run.hidden;
  const V32 one = hn::Set(F32(), 1.0f);
  for (int64_t place = begin; place < end; ++place) {
    const int64_t row = run.row(place, s.t);
    float* gate = run.gate + row * 3 * size;
    float* hn_kept = run.extra + row * size;
    float* d_inner = s.inner + place * 3 * size;
    float* d_state = s.h + place * size;
    const float* h = s.h_before + row * size;
    const float* d_row = s.d_rows ? s.d_rows + row * size : nullptr;
    ForVectors(size, [=](int64_t i, auto at) HWY_ATTR {
      const V32 r = at.load(gate + i), z = at.load(gate + size + i), n = at.load(gate + 2 * size + i);
      const V32 d = d_row ? hn::Add(at.load(d_state + i), at.load(d_row + i)) : at.load(d_state + i);
      const V32 d_n = hn::Mul(hn::Mul(d, hn::Sub(one, z)), hn::NegMulAdd(n, n, one));
      const V32 d_z = hn::Mul(hn::Mul(d, hn::Sub(at.load(h + i), n)), hn::Mul(z, hn::Sub(one, z)));
      const V32 d_r = hn::Mul(hn::Mul(d_n, at.load(hn_kept + i)), hn::Mul(r, hn::Sub(one, r)));
      const V32 d_hn = hn::Mul(d_n, r);
      at.store(d_r, gate + i);
      at.store(d_z, gate + size + i);
      at.store(d_n, gate + 2 * size + i);
      at.store(d_hn, hn_kept + i);
      at.store(d_r, d_inner + i);
      at.store(d_z, d_inner + size + i);
      at.store(d_hn, d_inner + 2 * size + i);
      at.store(hn::Mul(d, z), d_state + i);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(GruCell);
HWY_EXPORT(GruCellBackward);

void cell(const RecurrentStep& s, int64_t begin, int64_t end) { HWY_DYNAMIC_DISPATCH(GruCell)(s, begin, end); }
void cell_backward(const RecurrentStep& s, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(GruCellBackward)(s, begin, end);
}

constexpr RecurrentKind kGru = {.gates = 3, .forward = cell, .backward = cell_backward, .adds = true};

}  // namespace

RecurrentResult gru(const Packed& x, const RecurrentWeights& w, const RecurrentState& start, bool backwards) {
  return run_recurrent("gru", kGru,
                       {.w = w, .start = start, .x = x.rows, .offsets = x.offsets, .backwards = backwards});
}

RecurrentState gru_step(Tensor x, const RecurrentWeights& w, const RecurrentState& state) {
  return step_recurrent("gru_step", kGru, {.w = w, .start = state, .x = x, .offsets = {}});
}

}  // namespace heed
#endif
