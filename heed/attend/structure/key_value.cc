// L5 key_value: a state is split into a key and a value, and each row looks at the `window` rows before it. Daniluk et
// al. 2017.
//   h_t = [k_t; v_t]
//   M_t = tanh(W^Y [k_{t-L} .. k_{t-1}] + (W^h k_t) 1^T),  alpha_t = softmax(w^T M_t)
//   r_t = [v_{t-L} .. v_{t-1}] alpha_t^T,  h*_t = tanh(W^r r_t + W^x v_t)
// With predict the state has a third part p_t, which replaces v_t in the last line and alone is used to predict.
// Maps to the loop as tanh_sum inside a strict causal window.
// Parameters: score.key.weight W^Y, score.query.weight W^h [d, d], score.v w [d], output.context.weight W^r,
// output.value.weight W^x [d, d];  d = key_width / 2, or / 3 with predict.
#include <fmt/format.h>

#include "heed/attend/all.h"
#include "heed/attend/cache.h"
#include "heed/attend/watch.h"
#include "heed/attend/weights.h"
#include "heed/base/error.h"
#include "heed/layer/linear.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"

namespace heed::attend {

namespace {

int64_t part_count(const Options& o) { return o.predict != 0 ? 3 : 2; }

class KeyValue final : public Mechanism {
 public:
  KeyValue(const Scope& scope, const Options& o)
      : name_(scope.prefix()),
        width_(o.key_width),
        part_(o.key_width / part_count(o)),
        window_(o.window),
        key_(scope / "score" / "key", part_, part_, false),
        query_(scope / "score" / "query", part_, part_, false),
        w_(&(scope / "score").make("v", {part_}, Initialiser::xavier())),
        context_(scope / "output" / "context", part_, part_, false),
        value_(scope / "output" / "value", part_, part_, false) {}

  PreparedMemory prepare(const Memory& memory) const override {
    const Tensor rows = memory.rows.rows;
    expect(rows.cols() == width_, "key_value: the memory has {} columns, key_width is {}", rows.cols(), width_);
    PreparedMemory p;
    p.memory = memory;
    p.offsets = memory.rows.offsets;
    p.batch = p.offsets.count;
    p.keys = key_(columns(rows, 0, part_));
    p.values = columns(rows, part_, part_);
    return p;
  }
  PreparedMemory begin(Tape&, int64_t batch, int64_t capacity) const override { return begin_cache(batch, capacity); }
  PreparedMemory extend(const PreparedMemory& so_far, const Memory& rows) const override {
    Memory one = rows;
    if (!one.rows.offsets) one.rows.offsets = rows.rows.rows.tape().even_offsets(rows.rows.rows.rows(), 1);
    const PreparedMemory step = prepare(one);
    return extend_cache(so_far, step.keys, step.values);
  }
  int64_t context_width() const override { return part_; }

  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                  const Request& request) const override {
    return Watch::watched(name_, {queries, prepared, state, request}, [&](const Request& wanted) {
      return look_back({queries, prepared, state, wanted});
    });
  }

 private:
  Attended look_back(const AttendArguments& asked) const {
    const auto& [queries, prepared, state, request] = asked;
    const Tensor rows = queries.rows.rows;
    expect(static_cast<bool>(rows) && rows.cols() == width_, "key_value: the queries have {} columns, expected {}",
           rows ? rows.cols() : 0, width_);
    expect(
        !queries.mask && !queries.bias && !queries.documents && !queries.bottom_right && queries.window_left < 0 &&
            queries.window_right < 0,
        "key_value: its window alone decides what is visible; do not pass a mask, a bias, documents or another window");
    Tape& tape = rows.tape();
    AttentionCall call;
    auto& p = call.problem;
    p.score.kind = kernels::ScoreKind::tanh_sum;
    p.region.align = kernels::Align::offset;
    p.region.query_offset = state.step();
    p.region.causal = p.region.strict = true;
    p.region.window_left = window_;
    p.region.key_lengths = prepared.memory.lengths;
    p.region.query_lengths = queries.lengths;
    call.q = query_(columns(rows, 0, part_));
    call.k = prepared.keys;
    call.v = prepared.values;
    call.query_offsets = queries.rows.offsets;
    call.key_offsets = prepared.offsets;
    call.key_capacity = prepared.capacity;
    call.key_count = prepared.filled;
    call.score_v = tape.parameter(*w_);
    call.want_entropy = request.entropy;
    const AttentionResult r = attention(call);
    const Tensor own = columns(rows, width_ - part_, part_);  // v_t, or p_t with predict
    Attended a;
    const Tensor from_own = value_(own);
    a.context = tanh(add(context_(r.out), from_own));
    a.entropy = r.entropy;
    if (request.weights) a.weights = dense_weights(r, tape);
    a.state = state;
    a.state.set_step(state.step() + queries.rows.offsets.longest());
    return a;
  }

  std::string name_;  // where it is in the model
  int64_t width_, part_, window_;
  Linear key_, query_;
  Parameter* w_;
  Linear context_, value_;
};

std::unique_ptr<Mechanism> make_key_value(const Scope& scope, const Options& options) {
  return std::make_unique<KeyValue>(scope, options);
}

std::string refuse_key_value(const Options& o, const Parts& parts) {
  if (o.predict != 0 && o.predict != 1)
    return fmt::format("key_value: predict must be 0 (two parts) or 1 (three), not {}", o.predict);
  if (o.key_width % part_count(o) != 0)
    return fmt::format("key_value cannot split a state of width {} into {} equal parts", o.key_width, part_count(o));
  if (o.query_width != 0 && o.query_width != o.key_width)
    return fmt::format(
        "key_value: queries and memory are the same states, so query_width = {} must equal key_width = {}",
        o.query_width, o.key_width);
  if (o.window < 1) return fmt::format("key_value needs a window of at least 1, not {}", o.window);
  const Options plain;
  if (o.heads != 1 || o.project || o.project_output || o.normalise != plain.normalise || o.time != plain.time ||
      o.region != plain.region || (o.score != plain.score && parts.score != &additive_entry) || o.value_width != 0 ||
      o.position != plain.position || o.softcap != 0.0f)
    return "key_value has its own score, region and split of the state; only window and predict can be set";
  return "";
}
}  // namespace

const Entry key_value_entry = {
    .id = "L5",
    .name = "key_value",
    .part = Part::structure,
    .title = "key-value attention of a language model",
    .formula =
        "h_t = [k_t; v_t],  alpha_t = softmax(w^T tanh(W^Y K + W^h k_t)),  h*_t = tanh(W^r sum_i alpha_ti v_i + W^x "
        "v_t)",
    .paper = "Daniluk et al. 2017, Frustratingly Short Attention Spans in Neural Language Modeling",
    .time = "n window d tanh + 4 n d^2,  d = key_width / 2, or / 3 with predict",
    .memory = "n d",
    .combines = "nothing: it brings its own score and region",
    .page =
        "The state of a recurrent language model has three jobs: to be found, to be read, and to predict the next "
        "word. Here each job gets its own part: the state is split into key and value (and with predict = 1 a third "
        "part that alone predicts), and every step looks back at the `window` states before it. The first step has "
        "nothing to look back at, so only its own part counts.",
    .options = "key_width window predict",
    .order_matters = true,
    .not_to_source =
        "looks from each state of a language model at the states before it; between a decoder and a source there are "
        "two sequences",
    .same_rows = true,
    .own_score = true,
    .refuses = refuse_key_value,
    .make_structure = make_key_value,
};

}  // namespace heed::attend
