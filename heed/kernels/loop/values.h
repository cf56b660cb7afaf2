// The value side of the loop: out += P V and its backward. One implementation per instruction set.
#pragma once

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// d_out of a block: its rows, and what load_d_out() made of them for blocks of `width` lanes.
struct LoadedOutputGradient {
  Rows rows;
  const float* scratch;
  size_t width;
};

class ValueKernel {
 public:
  virtual ~ValueKernel() = default;

  /// Width of a row of values in whole vectors.
  virtual size_t padded() const = 0;
  /// Scratch for a block of keys' values, and for a block of queries' d_out.
  virtual size_t value_floats(size_t keys) const = 0;
  virtual size_t query_floats(size_t width) const = 0;

  /// Makes a key block's rows readable as whole vectors. `scratch`: value_floats().
  virtual void load_values(Rows v, int count, float* scratch) const = 0;

  /// out[query] += sum_key P[key][query] v[key], or = where `first`;  `out` is [width, padded()].
  virtual void forward(const Tile& weights, Rows v, const float* scratch, float* out, bool first) const = 0;
  /// rows[query] = sum_key factor[query] P[key][query] v[key] written directly to the caller's rows, if they are whole
  /// vectors; otherwise does nothing and returns false. The weights are multiplied by the factor, since there are fewer
  /// of them than outputs.
  virtual bool forward_to_rows(const Tile& weights, const float* factor, Rows v, const float* scratch,
                               MutableRows rows) const = 0;
  /// out[lane + c] *= factor[lane + c] for c < count
  virtual void rescale(float* out, const float* factor, int lane, int count) const = 0;
  /// rows = out * factor (null: 1)
  virtual void store(const float* out, const float* factor, int count, MutableRows rows) const = 0;

  /// Backward: d_out as [Dv, width] and as rows, into `scratch` (query_floats()).
  virtual void load_d_out(Rows d_out, int count, size_t width, float* scratch) const = 0;
  /// <d_out, out> of each row, after load_d_out(). Summed in the order of d_weights(): if one weight is 1, its d_weight
  /// and this have the same bits and cancel exactly, however large they are.
  virtual void row_dots(const float* d_out, size_t width, Rows out, int count, float* dots) const = 0;
  /// d_weights[key][query] = <v[key], d_out[query]>
  virtual void d_weights(const Tile& d, Rows v, const float* d_out, size_t width) const = 0;
  /// d_v[key] += sum_query P[key][query] d_out[query]; `d_v`'s row 0 is the key block's first row.
  virtual void d_values(const Tile& weights, const LoadedOutputGradient& d_out, MutableRows d_v,
                        float* scratch) const = 0;
};

ArenaPtr<ValueKernel> make_values(const Problem& problem, CallArena& arena);

/// Floats in a vector of the instruction set in use.
int vector_lanes();

}  // namespace heed::kernels
