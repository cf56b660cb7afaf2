#include "model.h"

#include <string>
#include <vector>

namespace heed::python {

namespace {

attend::Standalone made_of(const std::string& name, const py::dict& given, uint64_t seed) {
  attend::Options options;
  read_options(given, options);
  std::vector<std::string> names;
  for (const auto& option : given) names.push_back(option.first.cast<std::string>());
  return {name, options, names, seed};
}

}  // namespace

Model::Model(const std::string& name, const py::dict& given, uint64_t seed) : made_(made_of(name, given, seed)) {
  // Tapes would do this on demand, but two of them may run at once.
  for (Parameter& p : made_.parameters) p.gradient.resize(p.value.size());
}

py::dict Model::parameters() {
  py::dict all;
  const py::object owner = py::cast(shared_from_this());
  for (Parameter& p : made_.parameters)
    all[py::str(p.name)] =
        py::array_t<float>(std::vector<py::ssize_t>(p.shape.begin(), p.shape.end()), p.value.expose(), owner);
  return all;
}

py::list Model::trainable() const {
  py::list names;
  for (const Parameter& p : made_.parameters)
    if (p.trainable) names.append(p.name);
  return names;
}

// -------------------------------------------------------------------------------------------------------------- values

py::object Value::array() const {
  if (!tensor) return py::none();
  py::array_t<float> view({tensor.rows(), tensor.cols()}, tensor.data(), py::cast(run));
  view.attr("flags").attr("writeable") = false;
  return view;
}

py::object Value::gradient() const {
  const float* at = tensor ? tensor.gradient() : nullptr;
  if (!at) return py::none();
  return py::array_t<float>({tensor.rows(), tensor.cols()}, at);
}

// ---------------------------------------------------------------------------------------------------------------- runs

Run::Run(std::shared_ptr<Model> model, const TapeOptions& options) : model_(std::move(model)), tape_(options) {}

template <class T>
const T* Run::hold(const py::dict& arguments, const char* name, py::ssize_t dims) {
  if (!arguments.contains(name)) return nullptr;
  const auto array = arguments[name].cast<py::array>();
  held_.push_back(array);
  return contiguous_data<T>(array, name, dims);
}

Offsets Run::hold_offsets(const py::dict& arguments, const char* name) {
  const auto* at = hold<int64_t>(arguments, name, 1);
  return at ? Offsets{at, arguments[name].cast<py::array>().size() - 1} : Offsets{};
}

Value Run::input(const py::array& rows, bool needs_gradient) {
  held_.push_back(rows);
  const auto* data = contiguous_data<float>(rows, "rows", 2);
  return value(run([&] {  // never wait for a tape with Python's lock: whoever has the tape may want that
    std::lock_guard lock(busy_);
    return tape_.input(data, rows.shape(0), rows.shape(1), needs_gradient);
  }));
}

attend::Memory Run::memory(const py::dict& arguments) {
  attend::Memory m;
  m.rows = {arguments["keys"].cast<const Value&>().tensor, hold_offsets(arguments, "offsets")};
  if (arguments.contains("values")) m.values = arguments["values"].cast<const Value&>().tensor;
  m.documents = hold<int32_t>(arguments, "documents", 1);
  m.sentences = hold_offsets(arguments, "sentences");
  m.lengths = hold<int32_t>(arguments, "lengths", 1);
  m.stacked = arguments.contains("stacked");
  return m;
}

Memory Run::prepare(const py::dict& arguments) {
  const attend::Memory m = memory(arguments);
  return {shared_from_this(), run([&] {
            std::lock_guard lock(busy_);
            return model_->mechanism().prepare(m);
          })};
}

Memory Run::begin(int64_t batch, int64_t capacity) {
  return {shared_from_this(), run([&] {
            std::lock_guard lock(busy_);
            return model_->mechanism().begin(tape_, batch, capacity);
          })};
}

Memory Run::extend(const Memory& so_far, const py::dict& arguments) {
  const attend::Memory m = memory(arguments);
  return {shared_from_this(), run([&] {
            std::lock_guard lock(busy_);
            return model_->mechanism().extend(so_far.prepared, m);
          })};
}

py::object Run::weights(const attend::Weights& of) {
  if (!of.data) return py::none();
  py::array_t<float> view({of.batch, of.heads, of.queries, of.keys}, of.data, py::cast(shared_from_this()));
  view.attr("flags").attr("writeable") = false;
  return view;
}

Result Run::attend(const Memory& memory, const py::object& state, const py::dict& arguments) {
  attend::Queries q;
  if (arguments.contains("queries"))
    q.rows = {arguments["queries"].cast<const Value&>().tensor, hold_offsets(arguments, "offsets")};
  q.documents = hold<int32_t>(arguments, "documents", 1);
  q.mask = hold<uint8_t>(arguments, "mask", 2);
  if (q.mask) q.mask_keys = arguments["mask"].cast<py::array>().shape(1);
  q.mask_per_head = arguments.contains("mask_per_head");
  if (arguments.contains("bias")) q.bias = arguments["bias"].cast<const Value&>().tensor;
  q.bias_per_head = arguments.contains("bias_per_head");
  q.stacked = arguments.contains("stacked");
  q.lengths = hold<int32_t>(arguments, "lengths", 1);
  q.bottom_right = arguments.contains("bottom_right");
  if (arguments.contains("window_left")) q.window_left = arguments["window_left"].cast<int64_t>();
  if (arguments.contains("window_right")) q.window_right = arguments["window_right"].cast<int64_t>();
  attend::State from;
  if (!state.is_none()) {
    const auto& given = state.cast<const State&>();
    // Its tensors live on the tape of the memory that it came from.
    expect(given.run.get() == this, "state: expected that of a step on this memory, got one of another memory");
    from = given.state;
  }
  if (const auto* lengths = hold<int32_t>(arguments, "target_lengths", 1)) from.set_target_lengths(lengths);
  if (arguments.contains("step")) from.set_step(arguments["step"].cast<int64_t>());
  const attend::Request request{.weights = arguments.contains("weights"),
                                .guide_cost = arguments.contains("guide_cost"),
                                .entropy = arguments.contains("entropy"),
                                .penalty = arguments.contains("penalty")};
  const attend::Attended a = run([&] {
    std::lock_guard lock(busy_);
    return model_->mechanism().attend(q, memory.prepared, from, request);
  });
  return {value(a.context),    value(a.log_prob),       value(a.entropy),
          value(a.guide_cost), value(a.penalty),        {shared_from_this(), a.state},
          weights(a.weights),  weights(a.inner_weights)};
}

py::dict Run::backward(const py::list& seeds) {
  expect(!done_, "backward: the gradients of this call were already taken; call forward again");
  expect(tape_.recording(), "backward: the call was made with gradient=False");
  std::vector<std::pair<Tensor, const float*>> arrived;
  for (const py::handle& seed : seeds) {
    const auto pair = seed.cast<py::tuple>();
    const auto array = pair[1].cast<py::array>();
    const Tensor at = pair[0].cast<const Value&>().tensor;
    const auto* data = contiguous_data<float>(array, "gradient", 2);
    expect(array.shape(0) == at.rows() && array.shape(1) == at.cols(), "gradient: expected [{}, {}]", at.rows(),
           at.cols());
    if (at.needs_gradient()) arrived.emplace_back(at, data);
  }
  py::dict gradients;
  std::vector<std::pair<const Parameter*, float*>> copies;
  for (const Parameter& p : model_->made_.parameters) {
    if (!p.trainable) continue;
    py::array_t<float> copy(std::vector<py::ssize_t>(p.shape.begin(), p.shape.end()));
    copies.emplace_back(&p, copy.mutable_data());
    gradients[py::str(p.name)] = copy;
  }
  done_ = true;
  run([&] {
    std::scoped_lock lock(busy_, model_->gradients_);
    model_->made_.parameters.forget_gradients();
    for (const auto& [tensor, gradient] : arrived) tape_.seed_gradient(tensor, gradient);
    tape_.run();
    for (const auto& [p, to] : copies) {
      if (p->has_gradient)
        std::copy(p->gradient.begin(), p->gradient.end(), to);
      else
        std::fill_n(to, p->size(), 0.0f);
    }
    model_->made_.parameters.forget_gradients();
    return true;
  });
  return gradients;
}

// ------------------------------------------------------------------------------------------------------------ bindings

void define_attention(py::module_& m) {
  py::class_<Model, std::shared_ptr<Model>>(m, "Model", "A mechanism with its parameters.")
      .def(py::init<const std::string&, const py::dict&, uint64_t>(), py::arg("name"), py::arg("options"),
           py::arg("seed"))
      .def("options", &Model::options)
      .def("parameters", &Model::parameters)
      .def("trainable", &Model::trainable)
      .def_property_readonly("context_width", [](const Model& model) { return model.mechanism().context_width(); })
      .def_property_readonly(
          "own_queries", [](const Model& model) { return model.parts().any(&attend::Entry::own_queries); },
          "No queries come from outside.")
      .def_property_readonly(
          "needs_sentences", [](const Model& model) { return model.parts().structure->needs_sentences; },
          "A memory is made of sentences.")
      .def_property_readonly(
          "draws", [](const Model& model) { return model.parts().normalise->draws; }, "Keys are drawn while training.");
  py::class_<Value>(m, "Value", "A tensor of a run.")
      .def("__bool__", [](const Value& v) { return static_cast<bool>(v); })
      .def("array", &Value::array)
      .def("gradient", &Value::gradient);
  py::class_<Memory>(m, "Memory", "The result of prepare.").def("__repr__", [](const Memory& memory) {
    return fmt::format("<heed memory of {} sequences>", memory.prepared.batch);
  });
  py::class_<State>(m, "State", "The state that one call passes to the next.")
      .def_property_readonly(
          "step", [](const State& s) { return s.state.step(); }, "Position of the first query of the next call.")
      .def("__repr__", [](const State& s) { return fmt::format("<heed state at step {}>", s.state.step()); });
  py::class_<Result>(m, "Result", "The result of one call.")
      .def_readonly("context", &Result::context)
      .def_readonly("log_prob", &Result::log_prob)
      .def_readonly("entropy", &Result::entropy)
      .def_readonly("guide_cost", &Result::guide_cost)
      .def_readonly("penalty", &Result::penalty)
      .def_readonly("state", &Result::state)
      .def_readonly("weights", &Result::weights)
      .def_readonly("inner_weights", &Result::inner_weights);
  py::class_<Run, std::shared_ptr<Run>>(m, "Run", "One tape: what a forward pass saves for its backward pass.")
      .def(py::init([](std::shared_ptr<Model> model, bool recording, bool training, uint64_t seed) {
             return std::make_shared<Run>(std::move(model),
                                          TapeOptions{.recording = recording, .training = training, .seed = seed});
           }),
           py::arg("model"), py::arg("recording"), py::arg("training"), py::arg("seed"))
      .def_property_readonly("done", &Run::done)
      .def("input", &Run::input, py::arg("rows"), py::arg("needs_gradient"))
      .def("prepare", &Run::prepare, py::arg("arguments"))
      .def("begin", &Run::begin, py::arg("batch"), py::arg("capacity"))
      .def("extend", &Run::extend, py::arg("so_far"), py::arg("arguments"))
      .def("attend", &Run::attend, py::arg("memory"), py::arg("state"), py::arg("arguments"))
      .def("backward", &Run::backward, py::arg("seeds"));
}

}  // namespace heed::python
