// What is odd about the rows of a result, in one pass and without a copy: python/heed/_overflow.py.
#include <pybind11/stl.h>

#include <cmath>
#include <utility>

#include "bindings.h"

namespace heed::python {
namespace {

/// Whether a number is infinite or NaN, and whether a row is all 0.
struct RowFaults {
  bool not_finite = false, zero_row = false;
};

/// `axis`: rows lie along the last one.
void look_at_rows(const py::array& array, py::ssize_t axis, const char* from, RowFaults& faults) {
  const py::ssize_t count = array.shape(axis), stride = array.strides(axis);
  if (axis + 1 < array.ndim()) {
    for (py::ssize_t i = 0; i < count; ++i) look_at_rows(array, axis + 1, from + i * stride, faults);
    return;
  }
  bool finite = true, zero = true;
  for (py::ssize_t i = 0; i < count; ++i) {
    const float value = *reinterpret_cast<const float*>(from + i * stride);
    finite &= std::isfinite(value);
    zero &= value == 0.0f;
  }
  faults.not_finite |= !finite;
  faults.zero_row |= zero && count > 0;
}

std::pair<bool, bool> row_faults(const py::array& array) {
  expect(py::isinstance<py::array_t<float>>(array) && array.ndim() > 0, "row_faults: expected rows of float32");
  RowFaults faults;
  if (array.size() > 0) look_at_rows(array, 0, static_cast<const char*>(array.data()), faults);
  return {faults.not_finite, faults.zero_row};
}

}  // namespace

void define_row_faults(py::module_& m) { m.def("row_faults", &row_faults, py::arg("rows")); }

}  // namespace heed::python
