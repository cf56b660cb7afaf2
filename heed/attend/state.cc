#include "heed/attend/state.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed::attend {

void State::Carried::leave_tape() {
  if (!tensor_) return;
  copy_ = std::make_shared<const OffTapeMatrix>(tensor_);
  tensor_ = {};
}

void State::leave_tape() {
  for (Carried* each : {&columns_, &context_, &weights_}) each->leave_tape();
}

void State::set_numbers(std::vector<int32_t> numbers) {
  numbers_ = std::make_shared<const std::vector<int32_t>>(std::move(numbers));
}

void State::set_context(Tensor context, Tensor weights) {
  context_ = Carried(context);
  weights_ = Carried(weights);
}

namespace {

/// The first that is not null: all of them carry the same things.
const State* any_of(std::span<const State::Origin> origins) {
  for (const State::Origin& from : origins)
    if (from.state) return from.state;
  return nullptr;
}

/// Every sequence of one state stays where it is.
bool all_stay(std::span<const State::Origin> origins, int64_t sequences) {
  if (std::ssize(origins) != sequences) return false;
  for (int64_t b = 0; b < sequences; ++b) {
    const State::Origin& from = origins[static_cast<size_t>(b)];
    if (from.state != origins[0].state || from.sequence != b) return false;
  }
  return true;
}

}  // namespace

State::Carried State::select_columns(std::span<const Origin> origins, const Offsets& memory) {
  int64_t columns = 0;
  for (const Origin& from : origins) columns += memory.length(from.sequence);
  const int64_t rows = any_of(origins)->columns_.copy()->rows();
  std::vector<float> next(static_cast<size_t>(rows * columns));
  int64_t at = 0;
  for (const Origin& from : origins) {
    const int64_t length = memory.length(from.sequence);
    for (int64_t r = 0; r < rows && from.state; ++r)
      std::copy_n(from.state->columns_.copy()->row(r) + memory.at[from.sequence], length,
                  next.begin() + r * columns + at);
    at += length;
  }
  return Carried(OffTapeMatrix(std::move(next), rows, columns));
}

State State::select(std::span<const Origin> origins, const Offsets& memory) {
  const State* first = any_of(origins);
  if (!first) return {};
  if (all_stay(origins, memory.count)) return *first;
  State next(first->step_);
  if (first->columns_.copy()) next.columns_ = select_columns(origins, memory);
  if (first->numbers_) {
    const auto count = std::ssize(*first->numbers_) / memory.count;
    std::vector<int32_t> numbers(origins.size() * static_cast<size_t>(count));
    for (size_t b = 0; b < origins.size(); ++b)
      if (origins[b].state)
        std::copy_n(origins[b].state->numbers().begin() + origins[b].sequence * count, count,
                    numbers.begin() + static_cast<int64_t>(b) * count);
    next.set_numbers(std::move(numbers));
  }
  return next;
}

}  // namespace heed::attend
