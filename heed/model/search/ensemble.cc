#include "heed/model/search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"
#include "heed/model/search/best_tokens.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

namespace heed::search {

namespace {

/// The mean of log-probabilities is, up to a number that is the same for all tokens, that of the logits: the first
/// become it. The mean of equals is just them.
void mean_of_logits(std::span<const Tensor> logits) {
  const int64_t rows = logits[0].rows(), count = logits[0].cols();
  const float share = 1.0f / static_cast<float>(logits.size());
  for_pieces(rows, count * std::ssize(logits), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* sum = logits[0].row(r);
      for (const Tensor& other : logits.subspan(1))
        for (int64_t v = 0; v < count; ++v) sum[v] += other.row(r)[v];
      for (int64_t v = 0; v < count; ++v) sum[v] *= share;
    }
  });
}

/// log mean_m exp(l_m - z_m), plus z_0 so that the mean of equals is just them. Relative to the largest: no overflow.
void log_mean_of_probabilities(std::span<const Tensor> logits) {
  const int64_t rows = logits[0].rows(), count = logits[0].cols();
  std::vector<BestTokens> sums(logits.size());
  for (size_t m = 0; m < logits.size(); ++m) best_tokens(logits[m], 0, sums[m]);
  for_pieces(rows, 16 * count * std::ssize(logits), [&](int64_t begin, int64_t end) {
    std::vector<double> x(logits.size());
    for (int64_t r = begin; r < end; ++r)
      for (int64_t v = 0; v < count; ++v) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (size_t m = 0; m < x.size(); ++m) {
          x[m] = static_cast<double>(logits[m].row(r)[v]) +
                 (sums[0].log_sum[static_cast<size_t>(r)] - sums[m].log_sum[static_cast<size_t>(r)]);
          largest = std::max(largest, x[m]);
        }
        if (!std::isfinite(largest)) continue;  // nobody writes it
        for (const double each : x) sum += exact::exp(each - largest);
        logits[0].row(r)[v] = static_cast<float>(largest + exact::log(sum / static_cast<double>(x.size())));
      }
  });
}

/// The mean of the heads of the last layer, added to `sum` [rows, keys] with its share.
void add_last_layer(const decode::Alignment& alignment, float share, attend::Weights& sum) {
  const attend::Weights& w = alignment.layers.back();
  expect(w.batch == sum.batch && w.keys == sum.keys, ErrorKind::bug,
         "ensemble: an alignment of {} x {} instead of {} x {}", w.batch, w.keys, sum.batch, sum.keys);
  for (int64_t r = 0; r < w.batch; ++r)
    for (int64_t h = 0; h < w.heads; ++h)
      for (int64_t j = 0; j < w.keys; ++j) sum.at(r, 0, 0)[j] += share / static_cast<float>(w.heads) * w.at(r, h, 0)[j];
}

}  // namespace

Ensemble::Ensemble(std::vector<const model::Generator*> models, Mean mean, bool same_sources)
    : models_(std::move(models)), mean_(mean), same_sources_(same_sources) {
  expect(!models_.empty(), "ensemble: there is no model in it");
}

std::unique_ptr<decode::State> Ensemble::start(Tape& tape, const data::Sources& sources, int64_t longest) const {
  expect(sources.others.size() + 1 == models_.size(), ErrorKind::bug, "ensemble: sources for {} models, not {}",
         sources.others.size() + 1, models_.size());
  auto state = std::make_unique<decode::State>(sources.size(), longest);
  for (size_t m = 0; m < models_.size(); ++m) {
    state->add_member(models_[m]->start(tape, m == 0 ? sources : sources.others[m - 1], longest));
    tape.reset();  // the state is outside it
  }
  return state;
}

Tensor Ensemble::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                      decode::Alignment* alignment) const {
  std::vector<Tensor> logits;
  std::vector<decode::Alignment> looked(models_.size());
  for (size_t m = 0; m < models_.size(); ++m) {
    const bool asked = alignment && (m == 0 || same_sources_);
    logits.push_back(models_[m]->step(tokens, state.member(m), tape, asked ? &looked[m] : nullptr));
    expect(logits[m].cols() == logits[0].cols(), "ensemble: one model writes {} tokens and another {}",
           logits[0].cols(), logits[m].cols());
  }
  state.advance();
  if (logits.size() > 1) mean_ == Mean::log_probabilities ? mean_of_logits(logits) : log_mean_of_probabilities(logits);
  if (alignment && !looked[0].layers.empty()) {
    const attend::Weights& like = looked[0].layers.back();
    attend::Weights sum{.batch = like.batch, .heads = 1, .queries = 1, .keys = like.keys};
    sum.data = tape.keep<float>(like.batch * like.keys);
    std::fill(sum.data, sum.data + like.batch * like.keys, 0.0f);
    const auto asked =
        std::count_if(looked.begin(), looked.end(), [](const auto& each) { return !each.layers.empty(); });
    for (const decode::Alignment& each : looked)
      if (!each.layers.empty()) add_last_layer(each, 1.0f / static_cast<float>(asked), sum);
    alignment->layers = {sum};
  }
  return logits[0];
}

int64_t Ensemble::memory_rows(const data::Sources& sources, int64_t b) const {
  return models_[0]->memory_rows(sources, b);
}

int32_t Ensemble::first_token(const data::Sources& sources, int64_t b, int32_t start) const {
  return models_[0]->first_token(sources, b, start);
}

bool Ensemble::mixes_lengths() const {
  for (const model::Generator* model : models_)
    if (!model->mixes_lengths()) return false;
  return true;
}

std::vector<int64_t> Ensemble::alignment_heads() const {
  if (models_[0]->alignment_heads().empty()) return {};
  return {1};
}

}  // namespace heed::search
