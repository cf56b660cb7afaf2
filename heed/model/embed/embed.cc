#include "heed/model/embed/embed.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::embed {

namespace {

/// Of the positions [first, first + count), row by row.
float* sinusoids(Tape& tape, int64_t first, int64_t count, int64_t width) {
  float* rows = tape.keep<float>(count * width);
  for (int64_t i = 0; i < width; i += 2) {
    const double rate = exact::power(10000.0, -static_cast<double>(i) / static_cast<double>(width));
    for (int64_t p = 0; p < count; ++p) {
      const double angle = static_cast<double>(first + p) * rate;
      const auto [sin, cos] = exact::sin_cos(angle);
      rows[p * width + i] = static_cast<float>(sin);
      if (i + 1 < width) rows[p * width + i + 1] = static_cast<float>(cos);
    }
  }
  return rows;
}

}  // namespace

Tensor sinusoids_of(Tape& tape, const Offsets& offsets, int64_t width, int64_t first) {
  const float* rows = sinusoids(tape, first, offsets.longest(), width);
  Tensor place = tape.filled(offsets.total(), width, 0.0f);
  for (int64_t b = 0; b < offsets.count; ++b) std::copy_n(rows, offsets.length(b) * width, place.row(offsets.at[b]));
  return place;
}

Embed::Embed(const Scope& scope, const Options& options, Parameter* shared) : options_(options) {
  if (options_.table_width == 0) options_.table_width = options.width;
  const int64_t width = options_.table_width;
  if (shared) {
    table_.weight = shared;
    table_.factor = options.scaled ? std::sqrt(static_cast<float>(width)) : 1.0f;
  } else {
    table_ = Embedding(scope, {.vocabulary = options.vocabulary, .width = width, .scaled = options.scaled});
  }
  if (options.positions == "learned")
    positions_ = &scope.make("position", {options.max_length, width}, Initialiser::normal(0.02f));
  else
    expect(options.positions == "none" || options.positions == "sinusoidal",
           "embed: positions must be none, sinusoidal or learned, not '{}'", options.positions);
  if (options.normed) norm_ = RowNorm(scope / "norm", width, options.norm);
  if (options.blank)  // as large as the rows of the table
    blank_ = &scope.make("blank", {1, width}, Initialiser::normal(1.0f / std::sqrt(static_cast<float>(width))));
  if (width != options.width) widen_ = Linear(scope / "widen", width, options.width);
}

/// ids [tokens] -> [tokens, width]. Only what is known is looked up; a blank is one more row behind that.
Tensor Embed::vectors(Tape& tape, std::span<const int32_t> ids) const {
  if (!blank_) return table_(tape, ids);
  std::vector<int32_t> known;
  for (const int32_t id : ids)
    if (id != kBlank) known.push_back(id);
  if (known.size() == ids.size()) return table_(tape, ids);
  const auto blank = std::ssize(known);
  std::vector<int64_t> rows;
  rows.reserve(ids.size());
  for (int64_t next = 0; const int32_t id : ids) rows.push_back(id == kBlank ? blank : next++);
  const Tensor one = scale(tape.parameter(*blank_), table_.factor);
  return gather_rows(known.empty() ? one : concat_rows({table_(tape, known), one}), rows);
}

Packed Embed::operator()(Tape& tape, std::span<const int32_t> ids, const Offsets& offsets, int64_t first) const {
  Tensor x = vectors(tape, ids);
  if (options_.positions == "sinusoidal") {
    x = add(x, sinusoids_of(tape, offsets, options_.table_width, first));
  } else if (positions_) {
    expect(first + offsets.longest() <= options_.max_length, "embed: a sequence of {} tokens, but max_length is {}",
           first + offsets.longest(), options_.max_length);
    int64_t* rows = tape.keep<int64_t>(x.rows());
    for (int64_t b = 0; b < offsets.count; ++b)
      for (int64_t i = 0; i < offsets.length(b); ++i) rows[offsets.at[b] + i] = first + i;
    x = add(x, gather_rows(tape.parameter(*positions_), {rows, static_cast<size_t>(x.rows())}));
  }
  if (norm_) x = norm_(x);
  x = dropout(x, options_.dropout);
  return {widen_.weight ? widen_(x) : x, offsets};
}

}  // namespace heed::embed
