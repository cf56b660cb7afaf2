// L15 location_aware: an additive score that also sees where the last step looked.   Chorowski et al. 2015.
//   f_t = F * a_(t-1)   (a convolution along the memory; 0 before the first step)
//   e_tj = v^T tanh(W1 k_j + W2 q_t + U f_tj + b),   a_t = softmax(e_t),   c_t = sum_j a_tj v_j
// Each step adds U f_t to the prepared keys and runs the loop on its query. The weights come out as the context of
// values that are the unit vectors of the positions, with their gradient: in training of the same run, because what is
// drawn or dropped must be the same; otherwise of a run of their own, because the bits of a context depend on how wide
// the values are, and so on the longest memory of the batch. Parameters: those of additive; location.filters.weight F
// [filters, 2 filter_reach + 1], location.weight U [hidden, filters].
#include <fmt/format.h>

#include "heed/attend/attention.h"
#include "heed/attend/rows_by_step.h"
#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/windows.h"

namespace heed::attend {

namespace {

Options with_additive(Options o) {
  o.score = additive_entry.name;
  if (o.hidden == 0) o.hidden = o.key_width;
  return o;
}

class LocationAware final : public Mechanism {
 public:
  LocationAware(const Scope& scope, const Options& options)
      : name_(scope.prefix()),
        span_(2 * options.filter_reach + 1),
        width_(options.value_width > 0 ? options.value_width : options.key_width),
        attention_(scope, with_additive(options)),
        filters_(scope / "location" / "filters", span_, options.filters, false),
        features_(scope / "location", options.filters, attention_.options().hidden, false) {}

  Traits traits() const override { return {.heads = 1, .order_matters = true}; }
  int64_t context_width() const override { return width_; }

  PreparedMemory prepare(const Memory& memory) const override {
    expect(!memory.stacked, "location_aware: heads must be side by side, not stacked");
    PreparedMemory p = attention_.prepare(memory);
    const Tensor places = p.values.tape().filled(p.values.rows(), std::max<int64_t>(p.offsets.longest(), 1), 0.0f);
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t j = 0; j < p.offsets.length(b); ++j) places.row(p.offsets.at[b] + j)[j] = 1.0f;
    p.values = concat_columns({p.values, places});
    return p;
  }

  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                  const Request& request) const override {
    const Offsets& rows = queries.rows.offsets;
    expect(static_cast<bool>(queries.rows.rows) && static_cast<bool>(rows), "location_aware: the queries are missing");
    expect(!queries.bottom_right,
           "location_aware: queries continue where earlier steps stopped, not at the end of the keys (align "
           "bottom_right)");
    return Watch::watched(name_, {queries, prepared, state, request}, [&](const Request& wanted) {
      if (rows.longest() <= 1) return step({queries, prepared, state, wanted});
      State first = state;
      if (!first.target_lengths()) first.set_target_lengths(lengths_of(rows, queries.rows.rows.tape()));
      Attended all =
          attend_by_step({queries, prepared, first, wanted}, 1, [&](const AttendArguments& one) { return step(one); });
      all.state.set_target_lengths(state.target_lengths());
      return all;
    });
  }

 private:
  static const int32_t* lengths_of(const Offsets& rows, Tape& tape) {
    auto* lengths = tape.keep<int32_t>(rows.count);
    for (int64_t b = 0; b < rows.count; ++b) lengths[b] = static_cast<int32_t>(rows.length(b));
    return lengths;
  }

  /// One row of each sequence, or none.
  Attended step(const AttendArguments& asked) const {
    const PreparedMemory& memory = asked.prepared;
    PreparedMemory seen = memory;
    if (const Tensor before = asked.state.columns(memory.keys.tape())) {
      const Tensor looked = reshape(before, before.size(), 1);
      const Tensor located = features_(filters_(windows({looked, memory.offsets}, span_)));
      seen.keys = add(memory.keys, located);
    }
    const int64_t longest = memory.values.cols() - width_;
    if (!memory.keys.tape().training()) seen.values = columns(memory.values, 0, width_);
    Attended a = attention_.run({asked.queries, seen, asked.state, asked.request});
    Tensor weights = a.context;
    if (weights.cols() > width_) {
      a.context = columns(weights, 0, width_);
      weights = columns(weights, width_, longest);
    } else {
      seen.values = columns(memory.values, width_, longest);
      weights = attention_.run({asked.queries, seen, asked.state, {}}).context;
    }
    if (weights.rows() > 0) a.state.set_columns(weights_of_keys(weights, asked.queries.rows.offsets, memory.offsets));
    return a;
  }

  /// [rows, longest memory] -> [1, memory rows]; a sequence without a row has ended.
  Tensor weights_of_keys(Tensor weights, const Offsets& rows, const Offsets& memory) const {
    const int64_t longest = weights.cols();
    auto* from = weights.tape().keep<int64_t>(memory.total());
    for (int64_t b = 0; b < memory.count; ++b)
      for (int64_t j = 0; j < memory.length(b); ++j)
        from[memory.at[b] + j] = rows.length(b) > 0 ? rows.at[b] * longest + j : 0;
    const Tensor column = reshape(weights, weights.rows() * longest, 1);
    return reshape(gather_rows(column, {from, static_cast<size_t>(memory.total())}), 1, memory.total());
  }

  std::string name_;  // where it is in the model
  int64_t span_, width_;
  Attention attention_;
  Linear filters_, features_;
};

std::unique_ptr<Mechanism> make_location_aware(const Scope& scope, const Options& options) {
  return std::make_unique<LocationAware>(scope, options);
}

std::string refuse_location_aware(const Options& o, const Parts& parts) {
  if (o.heads != 1 || o.project || o.project_output)
    return "location_aware has one head, and the projections of its score; heads, project and project_output cannot be "
           "set";
  if (o.filters < 1) return fmt::format("location_aware needs filters of at least 1, not {}", o.filters);
  if (o.filter_reach < 0)
    return fmt::format("location_aware needs a filter_reach of 0 keys or more to each side, not {}", o.filter_reach);
  if (parts.time != &dynamic_entry && parts.time != &guided_entry)
    return fmt::format("location_aware has its own memory of earlier steps: time must be dynamic or guided, not \"{}\"",
                       o.time);
  if (parts.input->own_queries) return "location_aware needs queries in order; learned queries have none";
  if (parts.normalise->draws && o.samples != 1)
    return fmt::format("location_aware looks where the last step looked, so samples must be 1, not {}", o.samples);
  return "";
}
}  // namespace

const Entry location_aware_entry = {
    .id = "L15",
    .name = "location_aware",
    .part = Part::structure,
    .title = "additive, and it sees where it looked last",
    .formula = "f_t = F * a_(t-1),  e_tj = v^T tanh(W1 k_j + W2 q_t + U f_tj + b),  c_t = sum_j softmax(e_t)_j v_j",
    .paper = "Chorowski, Bahdanau, Serdyuk, Cho and Bengio 2015, Attention-Based Models for Speech Recognition",
    .time = "that of additive + n m (2 filter_reach + 1 + H) filters + n m^2,  H = hidden",
    .memory = "n m H",
    .combines = "any normaliser and region; dynamic and guided time; one head",
    .page =
        "Sounds that are alike occur many times in a recording, and a score by content alone cannot tell them apart. "
        "Here the score also gets features of where the last step looked: `filters` convolutions over its weights, "
        "each of which sees `filter_reach` keys to both sides. So attention learns to move on from there.\n\n"
        "A step needs the weights of the one before it, so the steps of a target are computed one after another. The "
        "first step has none before it, and its features are 0.",
    .options = "hidden filters filter_reach",
    .order_matters = true,
    .own_score = true,
    .refuses = refuse_location_aware,
    .make_structure = make_location_aware,
};

}  // namespace heed::attend
