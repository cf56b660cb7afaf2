#include "heed/attend/call.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/linear.h"

namespace heed::attend {

int64_t CallContext::longest_memory() const { return call.key_offsets ? call.key_offsets.longest() : call.key_count; }

int64_t CallContext::key_length(int64_t sequence) const {
  if (prepared.memory.lengths) return prepared.memory.lengths[sequence];
  return call.key_offsets ? call.key_offsets.length(sequence) : call.key_count;
}

int64_t CallContext::first_position(int64_t sequence) const {
  if (!queries.bottom_right) return state.step();
  const int64_t count = queries.lengths ? queries.lengths[sequence] : call.query_offsets.length(sequence);
  return key_length(sequence) - count;
}

Tensor CallContext::of_rows(Tensor column) const {
  if (call.stacked || heads == 1)
    return reshape(column, column.rows() / std::max<int64_t>(query_count(), 1), query_count());
  return transpose(reshape(column, query_count(), heads));
}

Tensor CallContext::per_query_and_head(Tensor bias, BiasRows rows) const {
  if (rows == BiasRows::query_and_head) return bias;
  const int64_t count = query_count() * heads;
  if (rows == BiasRows::one)
    return matmul(tape.filled(count, 1, 1.0f), scale(tape.filled(1, longest_memory(), 1.0f), bias));
  int64_t* from = tape.keep<int64_t>(count);
  const int64_t length = bias.rows() / heads;
  each_query_row([&](int64_t row, int64_t b, int64_t h, int64_t position) {
    const int64_t within = position - first_position(b);  // a table starts where the queries stand, see add_bias()
    from[row] = within + (rows == BiasRows::query ? call.query_offsets.at[b] : h * length);
  });
  return gather_rows(bias, {from, static_cast<size_t>(count)});
}

void CallContext::add_bias(Tensor bias, BiasRows rows) {
  const int64_t keys = longest_memory();
  expect(rows == BiasRows::one || bias.cols() >= keys, "attend: the bias has {} columns, but the memory has {} rows",
         bias.cols(), keys);
  if (rows == BiasRows::table && queries.bottom_right) {  // another place in every sequence
    const int64_t length = bias.rows() / heads, count = query_count() * heads;
    int64_t* from = tape.keep<int64_t>(count);
    each_query_row([&](int64_t row, int64_t, int64_t h, int64_t position) {
      from[row] =
          h * length + std::clamp<int64_t>(position, 0, length - 1);  // queries that do not count may lie outside
    });
    bias = gather_rows(bias, {from, static_cast<size_t>(count)});
    rows = BiasRows::query_and_head;
  } else if (rows == BiasRows::table &&
             state.step() > 0) {  // the loop counts queries from 0: start it where they stand
    const int64_t count = call.query_offsets.longest(), length = bias.rows() / heads;
    int64_t* from = tape.keep<int64_t>(count * heads);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < count; ++i) from[h * count + i] = h * length + state.step() + i;
    bias = gather_rows(bias, {from, static_cast<size_t>(count * heads)});
  }
  if (call.bias) {
    const Tensor a = per_query_and_head(call.bias, bias_rows), b = per_query_and_head(bias, rows);
    const int64_t common = std::min(a.cols(), b.cols());
    auto cut = [&](Tensor t) { return t.cols() == common ? t : columns(t, 0, common); };
    bias = add(cut(a), cut(b));
    rows = BiasRows::query_and_head;
  }
  call.bias = bias;
  bias_rows = rows;
  auto& at = call.problem.bias;
  const int64_t stride = call.bias.cols();
  const int64_t per_sequence = call.stacked && call.query_offsets.count > 0 ? call.query_offsets.length(0) : 0;
  at.batch = at.head = at.query = at.key = 0;
  at.packed = false;
  if (rows == BiasRows::one) return;
  at.key = 1;
  at.query = stride;
  if (rows == BiasRows::table) {
    at.head = call.bias.rows() / heads * stride;
  } else if (call.stacked) {
    at.head = rows == BiasRows::query ? 0 : per_sequence * stride;
    at.batch = (rows == BiasRows::query ? 1 : heads) * per_sequence * stride;
  } else {
    at.packed = true;
    at.head = rows == BiasRows::query ? 0 : stride;
    at.query = rows == BiasRows::query ? stride : heads * stride;
  }
}

}  // namespace heed::attend
