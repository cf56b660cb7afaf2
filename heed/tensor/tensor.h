// A value on a tape: a [rows, cols] matrix of float32, row-major and contiguous.
//
// Everything is a matrix. A packed batch is [tokens, width] with Offsets beside it; a vector is [1, n] or [n, 1].
#pragma once

#include <cstdint>

namespace heed {

class Tape;
struct Parameter;

/// Where a backward puts its part of a gradient. `fresh`: there is no gradient yet and the memory is uninitialised, so
/// write; otherwise add.
struct GradientSink {
  float* data = nullptr;
  bool fresh = false;

  explicit operator bool() const { return data != nullptr; }
};

/// The tape's record of a tensor. Lives in the tape's arena.
struct Node {
  Tape* tape;
  float* value;  // null: a packed parameter's
  int64_t rows, cols;
  float* gradient;      // null until there is one (for a parameter, its own)
  bool* has_gradient;   // a parameter's flag, or null
  bool needs_gradient;  // a parameter or input that it depends on needs one
  bool keeps_gradient;  // inputs: read after the backward; all others free it as soon as it has been used
  const Parameter* parameter = nullptr;  // whose value this is, or null
  bool owns_value = false;               // allocated in the tape's arena for this node
  bool written_in_place = false;         // operations may change the value: write_rows
};

/// A handle: cheap to copy, valid until the tape is reset.
/// Threads: as its tape.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Node* node) : node_(node) {}

  explicit operator bool() const { return node_ != nullptr; }
  int64_t rows() const { return node_->rows; }
  int64_t cols() const { return node_->cols; }
  int64_t size() const { return rows() * cols(); }
  Tape& tape() const { return *node_->tape; }
  float* data() const { return node_->value ? node_->value : unpacked(); }
  float* row(int64_t r) const { return data() + r * cols(); }
  float item() const { return *data(); }  // of a [1, 1] tensor
  /// The parameter whose value this is, or null.
  const Parameter* parameter() const { return node_->parameter; }
  /// Whether it is a parameter that was packed for its products (Parameter::pack) when it came onto the tape. data()
  /// would unpack it, which costs time once and then its memory twice.
  bool is_packed() const { return node_->parameter && !node_->value; }

  /// Whether operations may change the value (Tape::in_place, make_in_place); all other tensors are only read.
  bool written_in_place() const { return node_->written_in_place; }

  bool needs_gradient() const { return node_ && node_->needs_gradient; }
  /// The gradient so far, or null if there is none.
  const float* gradient() const;
  /// For backwards: where to put a part of this tensor's gradient; empty if none is needed.
  GradientSink sink() const;

 private:
  friend class Tape;
  float* unpacked() const;
  Node* node_ = nullptr;
};

/// Sequence b of a packed batch holds the rows [at[b], at[b + 1]). Lives in a tape's arena (Tape::offsets) or longer.
struct Offsets {
  const int64_t* at = nullptr;  // [count + 1]
  int64_t count = 0;            // sequences

  explicit operator bool() const { return at != nullptr; }
  int64_t total() const { return at[count]; }
  int64_t length(int64_t b) const { return at[b + 1] - at[b]; }
  int64_t longest() const;
};

/// A packed batch: all sequences stacked.
struct Packed {
  Tensor rows;      // [tokens, width]
  Offsets offsets;  // of the sequences in it
};

}  // namespace heed
