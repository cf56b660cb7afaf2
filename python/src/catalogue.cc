// Names, options and what is known of each mechanism, from the one list in heed/attend/all.h.
#include <pybind11/stl.h>

#include <sstream>
#include <type_traits>

#include "model.h"

namespace heed::python {
namespace {

std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string word; in >> word;) found.push_back(word);
  return found;
}

py::dict entry_dict(const attend::Entry& e) {
  py::dict d;
  d["id"] = e.id;
  d["name"] = e.name;
  d["part"] = attend::name_of(e.part);
  d["title"] = e.title;
  d["formula"] = e.formula;
  d["paper"] = e.paper;
  d["time"] = e.time;
  d["memory"] = e.memory;
  d["combines"] = e.combines;
  d["page"] = e.page;
  d["options"] = py::tuple(py::cast(words(e.options)));
  d["aliases"] = py::tuple(py::cast(words(e.aliases)));
  return d;
}

}  // namespace

void read_options(const py::dict& from, attend::Options& into) {
  attend::each_option(into, [&](const char* name, auto& field) {
    if (from.contains(name)) field = option_value<std::decay_t<decltype(field)>>(name, from[name]);
  });
}

py::dict options_dict(const attend::Options& options) {
  py::dict d;
  attend::each_option(options, [&](const char* name, const auto& field) { d[name] = field; });
  return d;
}

void define_catalogue(py::module_& m) {
  m.def(
      "mechanisms",
      [] {
        py::list all;
        for (const attend::Entry* e : attend::all()) all.append(entry_dict(*e));
        return all;
      },
      "Every entry of the catalogue.");
  m.def(
      "find", [](const std::string& name) { return entry_dict(attend::find(name)); }, py::arg("name"));
  m.def(
      "default_options", [] { return options_dict({}); }, "Every option with its default.");
}

}  // namespace heed::python
