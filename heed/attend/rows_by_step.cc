#include "heed/attend/rows_by_step.h"

#include <algorithm>
#include <utility>

#include "heed/tensor/op/arrange.h"

namespace heed::attend {

RowsByStep::RowsByStep(const Offsets& all, Ended ended, Tape& tape) : all_(all), tape_(tape) {
  places_.resize(static_cast<size_t>(all.total()));
  int64_t taken = 0;
  const int64_t steps = all.longest();
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<int64_t> rows, offsets = {0};
    for (int64_t b = 0; b < all.count; ++b) {
      const bool there = t < all.length(b);
      if (there) places_[static_cast<size_t>(all.at[b] + t)] = taken + std::ssize(rows);
      if (there || ended == Ended::last_row) rows.push_back(all.at[b] + std::min(t, all.length(b) - 1));
      offsets.push_back(std::ssize(rows));
    }
    taken += std::ssize(rows);
    steps_.push_back({std::move(rows), tape.offsets(offsets)});
  }
}

Packed RowsByStep::take(Tensor all, int64_t step) const { return {gather_rows(all, rows(step)), offsets(step)}; }

Tensor RowsByStep::put_back(const std::vector<Tensor>& of_steps) const {
  return gather_rows(concat_rows(of_steps), places_);
}

Tensor RowsByStep::put_back_columns(const std::vector<Tensor>& of_steps) const {
  std::vector<Tensor> turned;
  turned.reserve(of_steps.size());
  for (const Tensor& step : of_steps) turned.push_back(transpose(step));
  return transpose(put_back(turned));
}

Weights RowsByStep::put_back_weights(const std::vector<Weights>& of_steps) const {
  Weights w = of_steps[0];
  w.queries = steps();
  w.data = tape_.keep<float>(w.batch * w.heads * w.queries * w.keys);
  for (int64_t b = 0; b < w.batch; ++b)
    for (int64_t h = 0; h < w.heads; ++h)
      for (int64_t t = 0; t < w.queries; ++t) {
        if (t < all_.length(b))
          std::copy_n(of_steps[static_cast<size_t>(t)].at(b, h, 0), w.keys, w.at(b, h, t));
        else
          std::fill_n(w.at(b, h, t), w.keys, 0.0f);
      }
  return w;
}

}  // namespace heed::attend
