#include "fused.h"

#include <algorithm>
#include <map>

#include "heed/base/memory.h"

namespace heed::python {
namespace {

using kernels::Align;
using kernels::ConstView;
using kernels::Normaliser;
using kernels::View;

Normaliser normaliser(const std::string& name) {
  static const std::map<std::string, Normaliser> known = {
      {"softmax", Normaliser::softmax},   {"sigmoid", Normaliser::sigmoid},     {"relu", Normaliser::relu},
      {"identity", Normaliser::identity}, {"sparsemax", Normaliser::sparsemax}, {"entmax15", Normaliser::entmax15},
      {"hard", Normaliser::argmax}};
  const auto found = known.find(name);
  expect(found != known.end(), "normalise: the fused loop has no {}", name);
  return found->second;
}

int64_t longest(const int64_t* offsets, int64_t count) {
  int64_t most = 0;
  for (int64_t b = 0; b < count; ++b) most = std::max(most, offsets[b + 1] - offsets[b]);
  return most;
}

/// Strides of [B, heads, T, width], or ragged [heads, tokens, width].
template <class T>
kernels::Strided<T> view(const py::array& array, const char* name, bool ragged) {
  expect(py::isinstance<py::array_t<float>>(array), "{}: an array of another type came in", name);
  expect(array.ndim() == (ragged ? 3 : 4), "{}: {} dimensions came in", name, array.ndim());
  int64_t stride[4] = {0, 0, 0, 0};
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    expect(array.strides(i) % 4 == 0, "{}: strides that are no multiple of an element", name);
    stride[i + (ragged ? 1 : 0)] = array.strides(i) / 4;
  }
  return {static_cast<float*>(const_cast<void*>(array.data())), stride[0], stride[1], stride[2], stride[3]};
}

void throw_unless_ok(const kernels::Status& status) {
  if (status.out_of_memory()) throw NotEnoughMemory("not enough " + status.message());
  expect(status.ok(), "{}", status.message());
}

}  // namespace

/// Takes options out of a dictionary; what is left at the end is a mistake.
class FusedReader {
 public:
  FusedReader(Fused& call, const py::dict& options) : call_(call), rest_(options.attr("copy")()) {}

  template <class T>
  void read(const char* name, T& into) {
    if (rest_.contains(name)) into = rest_.attr("pop")(name).cast<T>();
  }
  template <class T>
  const T* array(const char* name, py::ssize_t dims) {
    if (!rest_.contains(name)) return nullptr;
    const auto taken = hold(name);
    return contiguous_data<T>(taken, name, dims);
  }
  /// Bytes or floats read through four strides, [B, H, Tq, Tk]; packed: [H, total queries, longest keys].
  template <class T>
  const T* strided(const char* name, std::vector<int64_t>& strides) {
    if (!rest_.contains(name)) return nullptr;
    const auto taken = hold(name);
    expect(py::isinstance<py::array_t<T>>(taken), "{}: an array of another type came in", name);
    expect(taken.ndim() == 4, "{}: expected 4 dimensions, got {}", name, taken.ndim());
    for (py::ssize_t i = 0; i < 4; ++i)
      strides.push_back(taken.shape(i) == 1 ? 0 : taken.strides(i) / static_cast<int64_t>(sizeof(T)));
    return static_cast<const T*>(taken.data());
  }
  void done() const { expect(rest_.empty(), "unknown option {}", py::str(py::list(rest_)).cast<std::string>()); }

 private:
  py::array hold(const char* name) {
    auto taken = rest_.attr("pop")(name).cast<py::array>();
    call_.held_.push_back(taken);
    return taken;
  }

  Fused& call_;
  py::dict rest_;
};

Fused::Fused(const py::array& q, const py::array& k, const py::array& v, const py::dict& options) : held_{q, k, v} {
  FusedReader from(*this, options);
  auto& [shape, ragged, score, bias, region, normalise, dropout, guide, forced, thread_count] = problem_;
  shape.batch = q.ndim() == 4 ? q.shape(0) : 1;
  from.read("batch", shape.batch);
  ragged.query_offsets = from.array<int64_t>("query_offsets", 1);
  ragged.key_offsets = from.array<int64_t>("key_offsets", 1);
  const bool packed = ragged.query_offsets != nullptr;
  in_ = {view<const float>(q, "q", packed), view<const float>(k, "k", packed), view<const float>(v, "v", packed)};
  const int first = packed ? 0 : 1;  // where the heads are
  shape.heads = q.shape(first);
  shape.kv_heads = k.shape(first);
  shape.queries = q.shape(first + 1);
  shape.keys = k.shape(first + 1);
  shape.dim = q.shape(first + 2);
  shape.value_dim = v.shape(first + 2);

  from.read("scale", score.scale);
  from.read("softcap", score.softcap);
  std::vector<int64_t> strides;
  bias.tensor = from.strided<float>("bias", strides);
  if (bias.tensor) {
    bias.batch = packed ? 0 : strides[0], bias.head = strides[1], bias.query = strides[2], bias.key = strides[3];
    bias.packed = packed;
  }
  normalise.sink = from.array<float>("sink", 1);
  bias.alibi_slopes = from.array<float>("alibi_slopes", 1);

  std::string word = "top_left";
  from.read("align", word);
  region.align = word == "offset" ? Align::offset : word == "bottom_right" ? Align::bottom_right : Align::top_left;
  from.read("query_offset", region.query_offset);
  from.read("causal", region.causal);
  from.read("strict", region.strict);
  from.read("window_left", region.window_left);
  from.read("window_right", region.window_right);
  from.read("sinks", region.always_visible);
  region.key_lengths = from.array<int32_t>("key_lengths", 1);
  region.query_lengths = from.array<int32_t>("query_lengths", 1);
  region.query_documents = from.array<int32_t>("query_documents", 1);
  region.key_documents = from.array<int32_t>("key_documents", 1);
  strides.clear();
  region.mask = from.strided<uint8_t>("mask", strides);
  if (region.mask) {
    region.mask_batch = packed ? 0 : strides[0], region.mask_head = strides[1], region.mask_query = strides[2];
    region.mask_packed = packed;
  }

  word = "softmax";
  from.read("normalise", word);
  normalise.kind = normaliser(word);
  from.read("divide_by_visible", normalise.divide_by_visible);
  from.read("dropout", dropout.p);
  from.read("seed", dropout.seed);
  from.read("forced_forward", forced.on);
  from.done();
}

kernels::Outputs Fused::outputs() const {
  kernels::Outputs out;
  out.saved = const_cast<float*>(saved_.data());
  out.forced_saved = const_cast<float*>(forced_saved_.data());
  out.kept_scores = const_cast<float*>(kept_scores_.data());
  out.choice = const_cast<int32_t*>(choice_.data());
  return out;
}

void Fused::forward(const py::array& out, bool keep) {
  // Counts of rows can be trusted only after the check.
  throw_unless_ok(kernels::check(problem_, in_, {.out = view<float>(out, "out", problem_.ragged.query_offsets)}));
  if (keep) {
    const int64_t rows = kernels::row_count(problem_);
    saved_.resize(2 * rows);
    forced_saved_.resize(kernels::forced_saved_floats(problem_));
    kept_scores_.resize(kernels::kept_scores_floats(problem_));
    if (problem_.normalise.kind == Normaliser::argmax) choice_.resize(rows);
  }
  kernels::Outputs to = outputs();
  to.out = view<float>(out, "out", problem_.ragged.query_offsets);
  throw_unless_ok(run([&] { return kernels::forward(problem_, in_, to); }));
}

py::array Fused::saved() const {
  expect(forced_saved_.empty() && choice_.empty(), "saved: not of forced-forward attention, and not of hard");
  return py::array_t<float>(std::vector<py::ssize_t>{std::ssize(saved_)}, saved_.data());
}

void Fused::resume(const py::array& saved) {
  const auto* numbers = contiguous_data<float>(saved, "saved", 1);
  expect(saved.size() == 2 * kernels::row_count(problem_), "saved: {} numbers came in", saved.size());
  saved_.assign(numbers, numbers + saved.size());
}

py::array Fused::weights() const {
  const auto& [queries, keys] = problem_.ragged;
  const auto& shape = problem_.shape;
  py::array_t<float> dense({shape.batch, shape.heads, queries ? longest(queries, shape.batch) : shape.queries,
                            keys ? longest(keys, shape.batch) : shape.keys});
  kernels::WeightsRequest request;
  request.dense = dense.mutable_data();
  throw_unless_ok(run([&] { return kernels::weights(problem_, in_, outputs(), request); }));
  return dense;
}

void Fused::backward(const py::array& out, const py::array& d_out, const py::dict& into) const {
  const bool ragged = problem_.ragged.query_offsets;
  kernels::BackwardInputs from;
  from.out = view<const float>(out, "out", ragged);
  from.d_out = view<const float>(d_out, "d_out", ragged);
  from.saved = saved_.data();
  from.forced_saved = forced_saved_.data();
  from.kept_scores = kept_scores_.data();
  from.choice = choice_.data();
  const auto given = [&](const char* name) {
    return into.contains(name) ? view<float>(into[name].cast<py::array>(), name, ragged) : View{};
  };
  const auto whole = [&](const char* name, py::ssize_t dims) {
    return into.contains(name) ? contiguous_data<float>(into[name].cast<py::array>(), name, dims) : nullptr;
  };
  kernels::Gradients to;
  to.d_q = given("q");
  to.d_k = given("k");
  to.d_v = given("v");
  to.d_bias_tensor = whole("bias", 4);
  to.d_sink = whole("sink", 1);
  to.d_alibi_slopes = whole("alibi_slopes", 1);
  throw_unless_ok(run([&] { return kernels::backward(problem_, in_, from, to); }));
}

void define_fused(py::module_& m) {
  py::class_<Fused>(m, "Fused", "One call of the fused loop, with the arrays it reads.")
      .def(py::init<const py::array&, const py::array&, const py::array&, const py::dict&>(), py::arg("q"),
           py::arg("k"), py::arg("v"), py::arg("options"))
      .def("forward", &Fused::forward, py::arg("out"), py::arg("keep"), "Writes the context into `out`.")
      .def("saved", &Fused::saved, "What forward saved for a backward.")
      .def("resume", &Fused::resume, py::arg("saved"), "As after the forward that saved this.")
      .def("weights", &Fused::weights, "Dense weights, [B, H, Tq, Tk].")
      .def("backward", &Fused::backward, py::arg("out"), py::arg("d_out"), py::arg("into"),
           "Writes the gradients named in `into` to its arrays.");
}

}  // namespace heed::python
