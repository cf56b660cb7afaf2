#include "heed/attend/score/synthesizer.h"

#include "heed/base/error.h"
#include "heed/tensor/op/activation.h"

namespace heed::attend {

DenseRows::DenseRows(const Scope& scope, const Options& options)
    : hidden_(scope / "hidden", options.query_width, options.hidden),
      row_(scope / "row", options.hidden, options.max_length) {}

Tensor DenseRows::operator()(Tensor q) const { return row_(relu(hidden_(q))); }

RandomTable::RandomTable(const Scope& scope, const Options& options)
    : table_(
          &scope.make("table", {options.heads * options.max_length, options.max_length}, Initialiser::normal(1.0f))) {
  table_->trainable = !options.fixed_table;
}

void check_length(const CallContext& c, const char* name, int64_t max_length) {
  expect(c.longest_memory() <= max_length,
         "{}: the memory has {} rows, but there are scores only up to max_length = {}; use a larger max_length", name,
         c.longest_memory(), max_length);
  const Offsets& o = c.call.query_offsets;
  for (int64_t b = 0; b < o.count; ++b) {
    const int64_t count = c.queries.lengths ? c.queries.lengths[b] : o.length(b), first = c.first_position(b);
    if (count == 0) continue;
    expect(first >= 0, "{}: a query is at position {}; positions start at 0", name, first);
    expect(first + count <= max_length,
           "{}: a query is at position {}, but there are scores only up to max_length = {}; use a larger max_length",
           name, first + count - 1, max_length);
  }
}

std::string refuse_synthesizer(const Options& o, const Parts&) {
  if (o.softcap > 0.0f)
    return fmt::format("softcap bounds the product of a query and a key; {} computes its scores without one", o.score);
  if (o.max_length >= 1) return "";
  return fmt::format("{} needs max_length of at least 1, not {}", o.score, o.max_length);
}

}  // namespace heed::attend
