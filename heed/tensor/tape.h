// Reverse-mode differentiation: operations leave a note on the tape, and backward() runs the notes in reverse.
//
//   Tape tape;
//   Tensor x = tape.input(data, tokens, width), w = tape.parameter(weight);
//   Tensor loss = sum(tanh(linear(x, w)));
//   tape.backward(loss);          // weight.gradient now holds d loss / d weight
//   tape.reset();                 // drops all tensors; their memory stays for the next step
//
// An operation is a function that makes its result with make(), fills it, and hands a closure to on_backward(). The
// closure captures tensors by value, reads result.gradient() and writes to input.sink().
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heed/tensor/parameter.h"
#include "heed/tensor/tape_arena.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Whether to record for a backward, and whether dropout and sampling are on.
struct TapeOptions {
  bool recording = true;
  bool training = true;
  uint64_t seed = 0;  // of dropout and sampling: the k-th random operation of a tape draws from (seed, k)
};

/// Threads: one at a time, so each thread needs its own tape. An operation uses several threads itself.
class Tape {
 public:
  explicit Tape(TapeOptions options = {});

  bool recording() const { return options_.recording; }
  bool training() const { return options_.training; }
  /// A new seed for an operation that draws random numbers.
  uint64_t next_seed();

  // ------------------------------------------------------------------------------------------------------ leaves
  /// Data of the caller, not copied: must live until reset(). With a gradient if `needs_gradient`.
  Tensor input(const float* data, int64_t rows, int64_t cols, bool needs_gradient = false);
  /// Memory of the caller that operations write in place (write_rows), not copied: must live until reset(). Without a
  /// gradient.
  Tensor in_place(float* data, int64_t rows, int64_t cols);
  /// Throws if it would be trained and is packed for inference.
  Tensor parameter(Parameter& parameter);
  Tensor filled(int64_t rows, int64_t cols, float value);
  /// A copy of the offsets that lives as long as the tensors.
  Offsets offsets(std::span<const int64_t> offsets);
  /// Offsets of `count` sequences of `length` rows each.
  Offsets even_offsets(int64_t count, int64_t length);

  // ------------------------------------------------------------------------------------------------ for operations
  /// An uninitialised result. `needs_gradient`: whether one of the operation's inputs does.
  Tensor make(int64_t rows, int64_t cols, bool needs_gradient);
  template <class... T>
  Tensor make_from(int64_t rows, int64_t cols, const T&... inputs) {
    return make(rows, cols, (inputs.needs_gradient() || ...));
  }

  /// `backward` runs if a gradient arrived at any tensor made since the last note. It is stored in the arena, so it
  /// must not own anything.
  template <class F>
  void on_backward(F backward) {
    const Made made{noted_, nodes_.size()};
    noted_ = made.last;
    if (!recording()) return;
    bool wanted = false;
    for (size_t i = made.first; i < made.last; ++i) wanted |= nodes_[i]->needs_gradient;
    if (wanted) note(std::move(backward), made, nullptr);
  }

  /// For an operation that makes no tensor but changes `watched` in place: `backward` runs if a gradient arrived there.
  template <class F>
  void on_backward_of(Tensor watched, F backward) {
    if (watched.needs_gradient()) note(std::move(backward), {}, watched.node_);
  }

  /// Returns f(). If the tape is not recording, all other tensors that f() made are freed, and their memory is reused:
  /// a stack of layers needs the memory of one.
  template <class F>
  Tensor only_result(const F& f) {
    const size_t before = nodes_.size();
    const Tensor result = f();
    if (!recording()) drop_since(before, result);
    return result;
  }

  /// `of` with another shape: the same numbers in the same memory, but with its own gradient.
  Tensor view(Tensor of, int64_t rows, int64_t cols);

  /// For backwards: passes the gradient of `from` to `to` unchanged, by handing over the memory if `to` has none yet.
  /// The last thing a backward does with `from`.
  void pass_gradient(Tensor from, Tensor to);

  /// A zeroed tensor that operations fill in place (write_rows). Its gradient is kept while a backward runs.
  Tensor make_in_place(int64_t rows, int64_t cols);

  /// Memory that lives until reset().
  template <class T>
  T* keep(int64_t count) {
    return arena_.take_array<T>(count);
  }
  template <class T>
  T* keep(std::span<const T> values) {
    T* copy = keep<T>(static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
    return copy;
  }
  TapeArena& arena() { return arena_; }

  // -------------------------------------------------------------------------------------------------- backward
  /// Gradients of `loss` [1, 1] with respect to every parameter and input.
  void backward(Tensor loss);
  /// Adds `gradient` (shaped like `at`) to the gradient of `at`; run() then does the same as backward().
  void seed_gradient(Tensor at, const float* gradient);
  void run();
  /// While a backward runs, `tell` is called for every trainable parameter of the tape, once, as soon as nothing that
  /// is left of the backward adds to its gradient. Call it before parameter(); it stays until another one is given.
  /// Null: nobody is told.
  void on_final_gradient(std::function<void(Parameter&)> tell);

  /// Drops all tensors; their memory is reused. `seed`: for the random numbers of the next step.
  void reset(uint64_t seed);
  void reset() { reset(options_.seed); }

 private:
  friend class Tensor;
  struct Made {  // the nodes of an operation
    size_t first = 0, last = 0;
  };
  struct Note {
    void (*run)(void*);
    void* closure;
    Made made;
    const Node* watched;  // or null
  };

  template <class F>
  void note(F backward, Made made, const Node* watched) {
    static_assert(std::is_trivially_destructible_v<F>, "a backward may capture tensors, numbers and pointers only");
    F* kept = new (arena_.take(sizeof(F))) F(std::move(backward));
    notes_.push_back({[](void* f) { (*static_cast<F*>(f))(); }, kept, made, watched});
  }
  bool arrived(const Note& note) const;
  void tell_final(size_t notes_left);
  GradientSink sink(Node& node);
  Tensor add_node(Node node);
  void drop_since(size_t first, Tensor but);

  TapeOptions options_;
  uint64_t draws_ = 0;
  TapeArena arena_;
  std::vector<Node*> nodes_;
  std::vector<Note> notes_;
  size_t noted_ = 0;  // nodes that belong to a note

  /// Only a note that was left after a parameter came to the tape can add to its gradient. The backward runs the notes
  /// from the last to the first, so the gradient is final once those before the first use are left.
  struct FirstUse {
    Parameter* parameter;
    size_t notes_before;
  };
  std::function<void(Parameter&)> tell_;
  std::vector<FirstUse> first_uses_;  // in order; kept only if there is someone to tell
  std::unordered_set<const Parameter*> used_;
};

}  // namespace heed
