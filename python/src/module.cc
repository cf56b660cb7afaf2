// heed._heed: the compiled part of the Python module. Everything that users see is in python/heed/.
#include "bindings.h"

#include <pybind11/stl.h>

#include "heed/kernels/isa.h"

namespace heed::python {

std::atomic<int> threads = 0;

}  // namespace heed::python

PYBIND11_MODULE(_heed, m) {
  using namespace heed::python;
  m.doc() = "The compiled part of heed.";
  static py::exception<heed::Error> error(m, "Error", PyExc_ValueError);
  error.doc() =
      "Raised for anything heed refuses. The message says what was expected and what was given; `kind` is the "
      "category.";
  error.attr("__module__") = "heed";
  error.attr("kind") = std::string(heed::name_of(heed::ErrorKind::usage));  // of those that Python raises itself
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is pybind11's.
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const heed::Error& refusal) {
      const py::object raised = static_cast<py::object&>(error)(refusal.what());
      raised.attr("kind") = std::string(heed::name_of(refusal.kind()));
      PyErr_SetObject(error.ptr(), raised.ptr());
    }
  });

  m.def("isa", &heed::kernels::isa, "The instruction set in use.\n\n>>> heed.isa() in heed.available_isas()\nTrue");
  m.def("available_isas", &heed::kernels::available_isas,
        "Instruction sets of this build and this CPU, best first.\n\n>>> heed.available_isas()[0] == heed.isa()\nTrue");
  m.def(
      "use_isa",
      [](const py::object& given) {
        const auto name = option_value<std::string>("use_isa", given);
        const heed::kernels::Status status = heed::kernels::use_isa(name);
        heed::expect(status.ok(), "{}", status.message());
      },
      py::arg("name"),
      "Selects an instruction set for all further calls; an empty name selects the best.\n\n>>> heed.use_isa('')");
  m.def(
      "set_threads",
      [](const py::object& given) {
        const int count = option_value<int>("set_threads", given);
        heed::expect(count >= 0, "set_threads: expected 0 (OpenMP's default) or more, got {}", count);
        threads = count;
      },
      py::arg("count"), "Number of threads per call; 0: OpenMP's default.\n\n>>> heed.set_threads(0)");
  m.def(
      "threads", [] { return threads > 0 ? threads.load() : omp_get_max_threads(); },
      "Number of threads per call.\n\n>>> heed.threads() >= 1\nTrue");

  define_fused(m);
  define_row_faults(m);
  define_catalogue(m);
  define_attention(m);
  define_predictor(m);
  define_evaluate(m);
  define_train(m);
  define_compare(m);
}
