// A mechanism with its parameters, and the tapes it runs on.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings.h"
#include "heed/attend/all.h"
#include "heed/attend/standalone.h"

namespace heed::python {

/// Reads a dictionary of options; every name must be one.
void read_options(const py::dict& from, attend::Options& into);
py::dict options_dict(const attend::Options& options);

class Model : public std::enable_shared_from_this<Model> {
 public:
  /// `given` wins over what the name sets.
  Model(const std::string& name, const py::dict& given, uint64_t seed);

  const attend::Mechanism& mechanism() const { return *made_.mechanism; }
  const attend::Parts& parts() const { return made_.parts; }
  py::dict options() const { return options_dict(made_.options); }
  /// Name -> array, the parameters' own memory.
  py::dict parameters();
  py::list trainable() const;

 private:
  friend class Run;
  attend::Standalone made_;
  std::mutex gradients_;  // one backward at a time: it writes to the parameters
};

class Run;

/// A tensor on a run's tape. Keeps the run alive.
struct Value {
  std::shared_ptr<Run> run;
  Tensor tensor;

  explicit operator bool() const { return static_cast<bool>(tensor); }
  py::object array() const;     // read-only, the tape's own memory; None for an empty tensor
  py::object gradient() const;  // a copy; None where none arrived
};

struct Memory {
  std::shared_ptr<Run> run;
  attend::PreparedMemory prepared;
};

struct State {
  std::shared_ptr<Run> run;
  attend::State state;
};

struct Result {
  Value context, log_prob, entropy, guide_cost, penalty;
  State state;
  py::object weights, inner_weights;  // arrays or None
};

/// One tape, and the arrays that its tensors point to.
class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<Model> model, const TapeOptions& options);

  Value input(const py::array& rows, bool needs_gradient);
  /// arguments: keys (Value), offsets, and where wanted values, documents, sentences, lengths, stacked.
  Memory prepare(const py::dict& arguments);
  Memory begin(int64_t batch, int64_t capacity);
  Memory extend(const Memory& so_far, const py::dict& arguments);
  /// arguments: queries (Value) and offsets, lengths, documents, mask, bias (Value), mask_per_head, bias_per_head,
  /// stacked, bottom_right, window_left, window_right, target_lengths, step; and what is asked for: weights, entropy,
  /// guide_cost, penalty.
  Result attend(const Memory& memory, const py::object& state, const py::dict& arguments);
  /// Pairs of (Value, gradient). Gives the parameters' gradients by name; those of inputs are asked of the inputs.
  /// Once.
  py::dict backward(const py::list& seeds);

  bool done() const { return done_; }

 private:
  template <class T>
  const T* hold(const py::dict& arguments, const char* name, py::ssize_t dims);
  Offsets hold_offsets(const py::dict& arguments, const char* name);
  attend::Memory memory(const py::dict& arguments);
  py::object weights(const attend::Weights& of);
  Value value(Tensor tensor) { return {shared_from_this(), tensor}; }

  std::shared_ptr<Model> model_;
  std::vector<py::object> held_;
  std::mutex busy_;  // a tape belongs to one thread at a time
  Tape tape_;
  bool done_ = false;
};

}  // namespace heed::python
