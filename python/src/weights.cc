// The weights of a loaded model, by name. What users see is python/heed/_weights.py.
#include "heed/checkpoint/new_weights.h"

#include <vector>

#include "heed/checkpoint/export.h"
#include "heed/checkpoint/save.h"
#include "heed/checkpoint/trained_model.h"
#include "loaded.h"

namespace heed::python {

Parameters& Loaded::parameters() const {
  expect(predictor_.models() == 1, "parameters: this is an ensemble of {} models, and each has its own: load one alone",
         predictor_.models());
  return *predictor_.model().parameters;
}

py::list Loaded::names() const {
  py::list all;
  for (const Parameter& p : parameters()) all.append(p.name);
  return all;
}

py::tuple Loaded::shape(const std::string& name) const { return py::cast(parameters().at(name).shape); }

py::array_t<float> Loaded::weight(const std::string& name) const {
  const Parameter& p = parameters().at(name);
  const std::vector<float> values = ask([&](const predict::Predictor&) { return p.value.copy(); });
  return py::array_t<float>(std::vector<py::ssize_t>(p.shape.begin(), p.shape.end()), values.data());
}

void Loaded::write(const py::list& weights) {
  std::vector<py::array> held;
  std::vector<trained::NewWeights> all;
  for (const py::handle& each : weights) {
    const auto pair = each.cast<py::tuple>();
    const auto array = held.emplace_back(pair[1].cast<py::array>());
    const auto* data = contiguous_data<float>(array, "parameters", array.ndim());
    all.push_back({pair[0].cast<std::string>(),
                   {array.shape(), array.shape() + array.ndim()},
                   {data, static_cast<size_t>(array.size())}});
  }
  Parameters& to = parameters();
  run([&] {
    const std::unique_lock lock(busy_);
    trained::write_weights(to, all);
    written_ = true;
    return true;
  });
}

void Loaded::export_to(const std::string& model, const std::string& checkpoint, const std::string& path,
                       const std::string& precision) const {
  ask([&](const predict::Predictor&) {
    const Parameters* changed = written_ ? &parameters() : nullptr;
    trained::expect_replaceable(path);
    const std::optional<Dtype> dtype = trained::dtype_of(precision, "precision");
    trained::with_checkpoint(model, checkpoint, [&](const file::Checkpoint& from) {
      if (!changed) {
        trained::export_model(from, path, dtype);
        return;
      }
      trained::TrainedModel copy = trained::load_model(from);
      for (Parameter& p : *copy.parameters) p.value = changed->find(p.name)->value.copy();
      copy.training.facts = {};  // they say how good the weights were that were trained
      trained::save_model(copy, path, {.one_file = true, .dtype = dtype.value_or(copy.stored)});
    });
    return true;
  });
}

}  // namespace heed::python
