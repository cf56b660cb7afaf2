// L4 structured: A = softmax(V_a tanh(W_a H^T)), C = A H.   Lin et al. 2017.
// r learned queries, the rows of V_a, on keys k' = tanh(W_a h): the loop's inner score.
// Parameters: score.weight W_a [hidden, D], queries V_a [r, hidden].
#include <fmt/format.h>

#include "heed/attend/attention.h"
#include "heed/attend/score/structured_score.h"
#include "heed/attend/weights.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/reduce.h"

namespace heed::attend {

namespace {

Options with_learned_queries(Options o) {
  o.input = learned_query_entry.name;
  if (o.hidden == 0) o.hidden = o.key_width;
  return o;
}

class Structured final : public Mechanism {
 public:
  Structured(const Scope& scope, const Options& options)
      : options_(with_learned_queries(options)),
        attention_(scope, options_,
                   std::make_unique<TanhKeys>(scope / "score", options_.key_width, options_.hidden, false)) {}

  PreparedMemory prepare(const Memory& memory) const override { return attention_.prepare(memory); }
  int64_t context_width() const override { return attention_.context_width(); }

  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                  const Request& request) const override {
    if (!request.penalty) return attention_.attend(queries, prepared, state, request);

    // The loop also computes G = A A^T if A^T is appended to the values: [C | G] = A [H | A^T]. That A^T is a constant,
    // not a variable. By symmetry it would have contributed the same gradient as the A before it, hence the 2 below.
    Tape& tape = prepared.values.tape();
    Request with_weights = request;
    with_weights.weights = true;
    const Weights a = attention_.attend(queries, prepared, state, with_weights).weights;
    const int64_t r = options_.queries, width = prepared.values.cols(), batch = prepared.batch;
    Tensor turned = tape.filled(prepared.values.rows(), r, 0.0f);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t j = 0; j < prepared.offsets.length(b); ++j)
        for (int64_t i = 0; i < r; ++i) turned.row(prepared.offsets.at[b] + j)[i] = a.at(b, 0, i)[j];
    PreparedMemory both = prepared;
    both.values = concat_columns({prepared.values, turned});
    Attended result = attention_.attend(queries, both, state, with_weights);
    Tensor unit = tape.filled(batch * r, r, 0.0f);
    for (int64_t row = 0; row < batch * r; ++row) unit.row(row)[row % r] = 1.0f;
    const Tensor off = sum_squares(subtract(columns(result.context, width, r), unit));
    result.penalty = add(scale(off, 2.0f), tape.filled(1, 1, -off.item()));
    result.context = columns(result.context, 0, width);
    return result;
  }

 private:
  Options options_;
  Attention attention_;
};

std::unique_ptr<Mechanism> make_structured(const Scope& scope, const Options& options) {
  return std::make_unique<Structured>(scope, options);
}

std::string refuse_structured(const Options& o, const Parts& parts) {
  if (o.heads != 1 || o.project || o.project_output)
    return "structured attention has its own r rows of weights and no heads or projections";
  if (o.queries < 1) return fmt::format("structured needs queries of at least 1, not {}", o.queries);
  if (parts.time->order_matters || parts.time->own_queries)
    return fmt::format("structured attention computes all its rows at once, so time = \"{}\" has no steps to act on",
                       o.time);
  return "";
}
}  // namespace

const Entry structured_entry = {
    .id = "L4",
    .name = "structured",
    .part = Part::structure,
    .title = "a sequence to several vectors",
    .formula = "A = softmax(V_a tanh(W_a H^T)),  C = A H,  penalty |A A^T - I|^2",
    .paper = "Lin et al. 2017, A Structured Self-Attentive Sentence Embedding",
    .time = "m D H + r m H,  H = hidden",
    .memory = "m H",
    .combines = "any normaliser and region; dynamic and guided time",
    .page =
        "A sentence becomes a matrix: each of r learned queries takes its own weighted mean of the states. The penalty "
        "keeps the queries from all doing the same: it is 0 when every row of weights is on a different single "
        "word.\n\n"
        "r is the option queries (default 4 for this name).",
    .options = "queries hidden",
    .preset =
        [](Options& o) {
          if (o.queries == 1) o.queries = 4;
        },
    .own_queries = true,
    .not_to_source =
        "turns a whole sequence into a few vectors with its own queries; it has no place for the query of a decoder "
        "step",
    .own_score = true,
    .refuses = refuse_structured,
    .make_structure = make_structured,
};

}  // namespace heed::attend
