// What the files of the extension module share. Arrays come in as Python's layer (python/heed/) has checked and shaped
// them; messages for users are made there, those here guard against mistakes inside heed itself.
#pragma once

#include <omp.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <string>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/kernels/interrupt.h"

namespace heed::python {

namespace py = pybind11;

/// heed.set_threads: 0 leaves the choice to OpenMP.
extern std::atomic<int> threads;

/// While it lives, other Python threads run, OpenMP uses the threads that were asked for, and Ctrl-C ends the work.
class Running {
 public:
  Running() : before_(omp_get_max_threads()), interruptible_(signalled) {
    if (const int wanted = threads; wanted > 0) omp_set_num_threads(wanted);
  }
  ~Running() { omp_set_num_threads(before_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  /// Python runs the handlers of signals that came; KeyboardInterrupt, or what else they raise, then waits for run().
  static bool signalled() {
    const py::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
  }

  py::gil_scoped_release release_;
  int before_;  // the number belongs to the calling thread, which may be a user's own
  kernels::Interruptible interruptible_;
};

/// work(), as Running says. What a signal's handler raised comes before anything that followed from it.
template <class Work>
auto run(Work&& work) {
  try {
    auto result = [&] {
      const Running running;
      return work();
    }();
    if (PyErr_Occurred()) throw py::error_already_set();
    return result;
  } catch (const py::error_already_set&) {
    throw;
  } catch (...) {
    if (PyErr_Occurred()) throw py::error_already_set();
    throw;
  }
}

/// The data of an array of T; throws unless it holds exactly that, in `dims` dimensions, without gaps.
template <class T>
T* contiguous_data(const py::array& array, const std::string& name, py::ssize_t dims) {
  expect(py::isinstance<py::array_t<T>>(array), "{}: an array of another type came in", name);
  expect(array.ndim() == dims, "{}: expected {} dimensions, got {}", name, dims, array.ndim());
  expect((array.flags() & py::array::c_style) != 0, "{}: expected an array without gaps", name);
  return static_cast<T*>(const_cast<void*>(array.data()));
}

/// numpy.float32(0.1) and its kin: numbers without being Python's float.
inline bool is_numpy_float(const py::handle& value) {
  return py::hasattr(value, "dtype") && !py::isinstance<py::array>(value) &&
         value.attr("dtype").attr("kind").cast<std::string>() == "f";
}

/// Python's bool is a number and its int a float to pybind11; here an option takes what it says.
template <class T>
T option_value(const std::string& name, const py::handle& value) {
  const bool is_bool = py::isinstance<py::bool_>(value), is_int = PyIndex_Check(value.ptr()) != 0 && !is_bool;
  const auto expect_that = [&](bool holds, const char* what) {
    expect(holds, "{}: expected {}, got {}", name, what, py::repr(value).cast<std::string>());
  };
  if constexpr (std::is_same_v<T, std::string>) {
    expect_that(py::isinstance<py::str>(value), "a word");
  } else if constexpr (std::is_same_v<T, bool>) {
    expect_that(is_bool, "True or False");
  } else if constexpr (std::is_integral_v<T>) {
    expect_that(is_int, "a whole number");
  } else {
    expect_that(is_int || PyFloat_Check(value.ptr()) != 0 || is_numpy_float(value), "a number");
  }
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {  // below or above what T holds
    expect_that(false, std::is_unsigned_v<T> ? "a whole number from 0 to 2^64 - 1" : "a smaller number");
    throw;
  }
}

void define_fused(py::module_& m);       // the loop of heed/kernels on strided arrays
void define_row_faults(py::module_& m);  // infinities, NaN and zeros in results
void define_catalogue(py::module_& m);   // names, options and what is known of each mechanism
void define_attention(py::module_& m);   // every mechanism, on a tape
void define_predictor(py::module_& m);   // trained models
void define_evaluate(py::module_& m);    // how good they are
void define_train(py::module_& m);       // training runs
void define_compare(py::module_& m);     // comparisons of training runs

}  // namespace heed::python
