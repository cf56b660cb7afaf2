#include "tests/kernels/library.h"

#include <limits>

namespace heed::kernels::test {

Library::Library(const Case& c, const Layout& layout, int threads) : c_(c), layout_(layout) {
  floats_ = convert<float>(c.x);
  guide_ = convert<float>(c.guide_tensor);
  up_ = convert<float>(c.up);
  bind_problem();
  problem.threads = threads;
  const Shape& s = c.shape();
  q_ = lay(true, s.heads, s.dim, &c.x.q);
  k_ = lay(false, c.kv_heads(), s.dim, &c.x.k);
  v_ = lay(false, c.kv_heads(), s.value_dim, &c.x.v);
  inputs = {q_.view, k_.view, v_.view};
  bind_outputs();
}

void Library::keep_scores() {
  kept_scores = unwritten(static_cast<size_t>(kept_scores_floats(problem)));
  outputs.kept_scores = or_null(kept_scores);
}

Status Library::forward() {
  Status status = kernels::forward(problem, inputs, outputs);
  results.out = out_.read();
  return status;
}

Status Library::backward() {
  const Shape& s = c_.shape();
  d_out_ = lay(true, s.heads, s.value_dim, &c_.up.d_out);
  d_q_ = lay(true, s.heads, s.dim), d_k_ = lay(false, c_.kv_heads(), s.dim);
  d_v_ = lay(false, c_.kv_heads(), s.value_dim);
  from = {};
  from.out = out_.view;
  from.saved = saved.data();
  from.forced_saved = or_null(forced_saved);
  from.kept_scores = or_null(kept_scores);
  from.choice = results.choice.empty() ? nullptr : results.choice.data();
  from.entropy = or_null(results.entropy);
  from.guide_cost = or_null(results.guide_cost);
  from.d_out = d_out_.view;
  from.d_lse = or_null(up_.d_lse);
  from.d_log_prob = or_null(up_.d_log_prob);
  from.d_entropy = or_null(up_.d_entropy);
  from.d_guide_cost = or_null(up_.d_guide_cost);
  from.d_column_lse = or_null(up_.d_column_lse);

  grad = floats_;
  for (auto& [name, values] : grad.named()) *values = unwritten(values->size());
  // Elements of a padded bias that belong to no pair of a ragged batch are nobody's to write.
  if (!c_.query_offsets.empty() || !c_.key_offsets.empty()) forget_pairs_of_the_bias();
  d_layers_.clear();
  for (size_t l = 0; l < grad.layer_weight.size(); ++l)
    d_layers_.push_back({grad.layer_weight[l].data(), grad.layer_bias[l].data()});
  to = {};
  if (problem.score.kind != ScoreKind::none) to.d_q = d_q_.view, to.d_k = d_k_.view;
  to.d_v = d_v_.view;
  to.d_score_v = or_null(grad.score_v);
  to.d_layers = d_layers_.empty() ? nullptr : d_layers_.data();
  to.d_bias_tensor = or_null(grad.bias_tensor);
  to.d_alibi_slopes = or_null(grad.alibi_slopes);
  to.d_relative = or_null(grad.relative);
  to.d_sink = or_null(grad.sink);
  if (problem.region.centre_sigma > 0.0f) to.d_centre = or_null(grad.centre);
  to.d_custom_score = or_null(grad.custom_score);
  to.d_custom_bias = or_null(grad.custom_bias);
  to.d_column_lse = or_null(grad.column_lse);

  // The backward of forced-forward starts from the state that the forward started from.
  state_ = first_state();
  backward_problem = problem;
  backward_problem.forced_forward.column_lse = or_null(state_);
  Status status = kernels::backward(backward_problem, inputs, from, to);
  grad.q = d_q_.read();
  grad.k = d_k_.read();
  grad.v = d_v_.read();
  if (problem.score.kind == ScoreKind::none) grad.q.assign(grad.q.size(), 0.0f), grad.k.assign(grad.k.size(), 0.0f);
  if (!(problem.region.centre_sigma > 0.0f)) grad.centre.assign(grad.centre.size(), 0.0f);
  gaps_untouched &= d_q_.gaps_untouched() && d_k_.gaps_untouched() && d_v_.gaps_untouched();
  return status;
}

Status Library::weights() {
  results.weights = unwritten(c_.pair_count());
  WeightsRequest request;
  request.query_count = c_.longest_queries();
  request.dense = results.weights.data();
  request.dense_keys = c_.longest_keys();
  return weights(request);
}

Status Library::weights(const WeightsRequest& request) {
  // The first state again: the forward has moved it.
  std::vector<float> state = first_state();
  Problem again = problem;
  again.forced_forward.column_lse = or_null(state);
  return kernels::weights(again, inputs, outputs, request);
}

Laid Library::lay(bool of_queries, int64_t heads, int64_t width, const std::vector<double>* values) const {
  const bool ragged = of_queries ? !c_.query_offsets.empty() : !c_.key_offsets.empty();
  const int64_t total = of_queries ? c_.total_queries() : c_.total_keys();
  const int64_t batch = ragged ? 1 : c_.shape().batch;
  Laid laid(batch, heads, batch > 0 ? total / batch : 0, width, layout_);
  if (values) laid.write(*values);
  return laid;
}

std::vector<float> Library::first_state() const {
  if (!c_.x.column_lse.empty() || !c_.problem.forced_forward.on) return convert<float>(c_.x.column_lse);
  return std::vector<float>(c_.columns(), -std::numeric_limits<float>::infinity());
}

void Library::forget_pairs_of_the_bias() {
  grad.bias_tensor.assign(grad.bias_tensor.size(), 0.0f);
  const Bias& bias = c_.problem.bias;
  for (int64_t b = 0; b < c_.shape().batch && !grad.bias_tensor.empty(); ++b)
    for (int64_t h = 0; h < c_.shape().heads; ++h)
      for (int64_t i = 0; i < c_.queries(b); ++i)
        for (int64_t j = 0; j < c_.keys(b); ++j)
          grad.bias_tensor[c_.tensor_row(bias, b, h, i) + j * bias.key] = std::numeric_limits<float>::quiet_NaN();
}

void Library::bind_problem() {
  problem = c_.problem;
  problem.ragged = {or_null(c_.query_offsets), or_null(c_.key_offsets)};
  problem.score.v = or_null(floats_.score_v);
  for (size_t l = 0; l < floats_.layer_weight.size(); ++l) {
    const auto out = static_cast<int64_t>(floats_.layer_bias[l].size());
    const auto in = static_cast<int64_t>(floats_.layer_weight[l].size()) / out;
    layers_.push_back({floats_.layer_weight[l].data(), floats_.layer_bias[l].data(), in, out});
  }
  problem.score.layers = layers_.empty() ? nullptr : layers_.data();
  if (problem.score.kind == ScoreKind::custom) {
    distance_.a = floats_.custom_score;
    custom_score_ = custom_score(distance_);
    problem.score.custom = &custom_score_;
  }
  problem.bias.tensor = or_null(floats_.bias_tensor);
  problem.bias.alibi_slopes = or_null(floats_.alibi_slopes);
  problem.bias.relative = or_null(floats_.relative);
  problem.normalise.sink = or_null(floats_.sink);
  if (!floats_.custom_bias.empty()) {
    wave_.a = floats_.custom_bias;
    custom_bias_ = custom_bias(wave_);
    problem.bias.custom = &custom_bias_;
  }
  Region& region = problem.region;
  region.key_lengths = or_null(c_.key_lengths);
  region.query_lengths = or_null(c_.query_lengths);
  region.query_documents = or_null(c_.query_documents);
  region.key_documents = or_null(c_.key_documents);
  region.mask = or_null(c_.mask);
  region.centre = or_null(floats_.centre);
  if (c_.custom_region) {
    custom_region_ = kernels::custom_region(comb_);
    region.custom = &custom_region_;
  }
  problem.guide.tensor = or_null(guide_);
}

void Library::bind_outputs() {
  out_ = lay(true, c_.shape().heads, c_.shape().value_dim);
  const size_t rows = c_.rows();
  saved = unwritten(2 * rows);
  forced_saved = unwritten(forced_saved_floats(problem));
  if (c_.soft()) results.lse = unwritten(rows);
  if (c_.chooses()) results.choice.assign(rows, -12345), results.log_prob = unwritten(rows);
  if (c_.has_entropy()) results.entropy = unwritten(rows);
  if (c_.has_guide()) results.guide_cost = unwritten(rows);
  results.column_lse = first_state();
  problem.forced_forward.column_lse = or_null(results.column_lse);
  outputs.out = out_.view;
  outputs.saved = saved.data();
  outputs.forced_saved = or_null(forced_saved);
  outputs.lse = or_null(results.lse);
  outputs.choice = results.choice.empty() ? nullptr : results.choice.data();
  outputs.log_prob = or_null(results.log_prob);
  outputs.entropy = or_null(results.entropy);
  outputs.guide_cost = or_null(results.guide_cost);
}

}  // namespace heed::kernels::test
