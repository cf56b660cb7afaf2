// Long work that calls Python back: events, Ctrl-C, and the number of threads.
#pragma once

#include <omp.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "bindings.h"

namespace heed::python {

/// A Python function that is called without Python's lock, and what it raised.
class Function {
 public:
  explicit Function(py::object function) : function_(std::move(function)) {}
  ~Function() {
    const py::gil_scoped_acquire acquire;
    raised_.reset();
    function_ = py::none();
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  /// With Python's lock.
  void raise_again() {
    if (!raised_) return;
    py::error_already_set error = std::move(*raised_);
    raised_.reset();
    throw error;
  }

 protected:
  py::object function_;
  std::optional<py::error_already_set> raised_;
};

/// Calls Python with every event. Ctrl-C, an exception of the function, or False from it stops the run after the
/// current update; it is saved first, and what was raised is raised again afterwards.
class Callback final : public Function {
 public:
  using Function::Function;

  void call(const std::string& line) {
    const py::gil_scoped_acquire acquire;
    if (raised_) return;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const py::object answer =
          function_(py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(line.data(), std::ssize(line), "replace")));
      if (answer.is(py::bool_(false))) stop = true;
    } catch (py::error_already_set& error) {
      raised_.emplace(std::move(error));
      stop = true;
    }
  }

  std::atomic<bool> stop = false;
};

struct Threads {
  Threads() : before(omp_get_max_threads()) {
    if (const int wanted = threads; wanted > 0) omp_set_num_threads(wanted);
  }
  ~Threads() { omp_set_num_threads(before); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  int before;
};

}  // namespace heed::python
