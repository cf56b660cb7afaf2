#include "heed/attend/attend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "heed/attend/standalone.h"
#include "heed/base/error.h"
#include "heed/layer/parameters.h"
#include "heed/tensor/tape.h"

namespace heed::attend {

namespace {

std::string text_of(const Array& a) { return fmt::format("[{}, {}, {}]", a.batch, a.length, a.width); }

void expect_array(const char* name, const Array& a) {
  expect(a.batch >= 0 && a.length >= 0 && a.width > 0, "{}: expected [batch, length, width], got {}", name, text_of(a));
  expect(a.data || a.batch * a.length == 0, "{}: expected {} numbers, got a null pointer", name, text_of(a));
  const int64_t row = a.row_stride, sequence = a.batch_stride;
  expect(row == 0 || row >= a.width, "{}: row_stride: expected at least the width {}, got {}", name, a.width, row);
  expect(sequence == 0 || sequence >= a.length * (row ? row : a.width),
         "{}: batch_stride: expected at least {} rows, got {}", name, a.length, sequence);
}

void expect_together(const Array& q, const Array& k, const Array& v) {
  expect_array("q", q);
  expect_array("k", k);
  expect_array("v", v);
  expect(k.batch == q.batch, "k: expected [{}, keys, width] beside q {}, got {}", q.batch, text_of(q), text_of(k));
  expect(v.batch == k.batch && v.length == k.length, "v: expected [{}, {}, width] beside k {}, got {}", k.batch,
         k.length, text_of(k), text_of(v));
}

void expect_lengths(const char* name, std::span<const int32_t> lengths, const Array& of) {
  if (lengths.empty()) return;
  expect(std::ssize(lengths) == of.batch, "{}: expected {} numbers, got {}", name, of.batch, lengths.size());
  for (const int32_t length : lengths)
    expect(length >= 0 && length <= of.length, "{}: expected 0 to {}, got {}", name, of.length, length);
}

/// Widths may be given, but they are those of the arrays.
Options options_for(const Array& q, const Array& k, const Array& v, Options options) {
  const auto set = [](const char* name, int64_t& option, const char* array, int64_t width) {
    expect(option == 0 || option == width, "{}: expected the width {} of {}, got {}", name, width, array, option);
    option = width;
  };
  set("query_width", options.query_width, "q", q.width);
  set("key_width", options.key_width, "k", k.width);
  set("value_width", options.value_width, "v", v.width);
  return options;
}

std::string shape_text(const Parameter& p) { return fmt::format("{} [{}]", p.name, fmt::join(p.shape, ", ")); }

/// All of them by name.
void copy_parameters(const Parameters& from, Parameters& to) {
  std::vector<std::string> expected, given;
  for (const Parameter& p : to) expected.push_back(shape_text(p));
  for (const Parameter& p : from) given.push_back(shape_text(p));
  std::sort(expected.begin(), expected.end());
  std::sort(given.begin(), given.end());
  expect(expected == given, "parameters: expected {}; got {}",
         expected.empty() ? "none" : fmt::format("{}", fmt::join(expected, ", ")),
         given.empty() ? "none" : fmt::format("{}", fmt::join(given, ", ")));
  for (Parameter& p : to) p.value = from.find(p.name)->value.copy();
}

/// The array as the rows of a tape, in place if it has no gaps.
Packed rows_of(Tape& tape, const Array& a) {
  const int64_t row = a.row_stride ? a.row_stride : a.width;
  const int64_t sequence = a.batch_stride ? a.batch_stride : a.length * row;
  const float* data = a.data;
  if (row != a.width || sequence != a.length * a.width) {
    float* copy = tape.keep<float>(a.batch * a.length * a.width);
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t i = 0; i < a.length; ++i)
        std::copy_n(a.data + b * sequence + i * row, a.width, copy + (b * a.length + i) * a.width);
    data = copy;
  }
  return {tape.input(data, a.batch * a.length, a.width), tape.even_offsets(a.batch, a.length)};
}

float largest(Tensor rows) {
  float most = 0.0f;
  for (int64_t i = 0; i < rows.rows() * rows.cols(); ++i) most = std::max(most, std::fabs(rows.data()[i]));
  return most;
}

bool all_finite(const float* data, int64_t count) {
  return std::all_of(data, data + count, [](float x) { return std::isfinite(x); });
}

/// Infinities and NaN that come in go through; those that finite numbers end in are refused: docs/numerics.md.
void refuse_overflow(Tensor context, Tensor q, Tensor k, Tensor v) {
  if (all_finite(context.data(), context.rows() * context.cols())) return;
  for (const Tensor in : {q, k, v})
    if (!all_finite(in.data(), in.rows() * in.cols())) return;
  throw Error(
      fmt::format("attend: numbers too large for float32: a score or a sum is beyond it, so that there is no answer. "
                  "The largest are: q {:.3g}, k {:.3g}, v {:.3g}. Scale the inputs down",
                  largest(q), largest(k), largest(v)));
}

}  // namespace

ArrayResult attend(std::string_view mechanism, const Array& q, const Array& k, const Array& v,
                   const ArrayOptions& options) {
  expect_together(q, k, v);
  expect_lengths("query_lengths", options.query_lengths, q);
  expect_lengths("key_lengths", options.key_lengths, k);
  const Options settings = options_for(q, k, v, options.mechanism);
  Standalone made(mechanism, settings, changed(settings), options.seed);
  expect(!made.parts.any(&Entry::own_queries), "attend: {} makes its own queries; take attend::make and prepare()",
         mechanism);
  expect(!made.parts.structure->needs_sentences, "attend: {} attends to sentences; take attend::make and prepare()",
         mechanism);
  if (options.parameters) copy_parameters(*options.parameters, made.parameters);

  Tape tape({.recording = false, .training = options.training, .seed = options.seed});
  Memory memory{.rows = rows_of(tape, k), .values = rows_of(tape, v).rows};
  if (!options.key_lengths.empty()) memory.lengths = options.key_lengths.data();
  Queries queries{.rows = rows_of(tape, q)};
  if (!options.query_lengths.empty()) queries.lengths = options.query_lengths.data();
  queries.mask = options.mask;
  queries.mask_keys = options.mask ? k.length : 0;
  if (options.bias) queries.bias = tape.input(options.bias, q.batch * q.length, k.length);
  queries.bottom_right = options.bottom_right;
  queries.window_left = options.window_left;
  queries.window_right = options.window_right;
  const Attended found =
      made.mechanism->attend(queries, made.mechanism->prepare(memory), {}, {.weights = options.weights});
  refuse_overflow(found.context, queries.rows.rows, memory.rows.rows, memory.values);

  ArrayResult result{.batch = q.batch,
                     .length = q.batch ? found.context.rows() / q.batch : q.length,
                     .width = found.context.cols(),
                     .context = {found.context.data(), found.context.row(found.context.rows())},
                     .heads = found.weights.heads,
                     .keys = found.weights.keys,
                     .weights = {}};
  if (const Weights& w = found.weights; w.data)
    result.weights.assign(w.data, w.data + w.batch * w.heads * w.queries * w.keys);
  return result;
}

}  // namespace heed::attend
