#include "heed/task/rerank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/kernels/exact_math.h"
#include "heed/task/decoding_option.h"
#include "heed/task/line_tokens.h"
#include "heed/tensor/parallel.h"
#include "heed/text/metric/all.h"

namespace heed::task {

bool wants_reranking(const PredictOptions& o) { return !o.mbr.empty() || static_cast<bool>(o.rerank_reverse); }

namespace {

const metric::MetricEntry& metric_named(const std::string& name) {
  try {
    const metric::MetricEntry& entry = metric::find_metric(name);
    expect(!entry.needs_labels, "{} compares labels, not texts", name);
    return entry;
  } catch (const Error& error) {
    throw Error(std::string("mbr: ") + error.what());
  }
}

void sort_by_score(std::vector<Output>& outputs) {
  std::stable_sort(outputs.begin(), outputs.end(), [](const Output& a, const Output& b) {
    return a.missing.size() != b.missing.size() ? a.missing.size() < b.missing.size() : a.score > b.score;
  });
}

/// log p(x | y) of every candidate, in one call for all lines.
void add_reverse(std::span<Prediction> predictions, std::span<const std::string> lines, const PredictOptions& o) {
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < predictions.size(); ++i)
    for (const Output& output : predictions[i].nbest)
      pairs.push_back({output.text, std::string(without_end(lines[i]))});
  const std::vector<PairScore> found = o.rerank_reverse(pairs);
  expect(found.size() == pairs.size(), "rerank_reverse: {} scores for {} pairs", found.size(), pairs.size());
  size_t at = 0;
  for (Prediction& prediction : predictions) {
    for (Output& output : prediction.nbest) {
      const PairScore& score = found[at++];
      // What cannot be scored, such as an empty output, comes last.
      output.reverse_log_probability =
          score.error.empty() ? score.log_probability : -std::numeric_limits<double>::infinity();
      if (o.rerank_weight != 0.0) output.score += o.rerank_weight * output.reverse_log_probability;
    }
    sort_by_score(prediction.nbest);
  }
}

/// How much each candidate counts as an answer.
std::vector<double> weights_of(const std::vector<Output>& outputs, const PredictOptions& o) {
  if (o.sample && !o.distinct) return std::vector<double>(outputs.size(), 1.0);
  std::vector<double> weights;
  double largest = -std::numeric_limits<double>::infinity();
  for (const Output& output : outputs)
    largest = std::max(largest, weights.emplace_back(o.rerank_reverse ? output.score : output.log_probability));
  for (double& weight : weights) weight = std::isfinite(largest) ? exact::exp(weight - largest) : 1.0;
  return weights;
}

/// Equal texts become one, the first of them, and their weights are added.
void join_equal(std::vector<Output>& outputs, std::vector<double>& weights) {
  std::unordered_map<std::string, size_t> places;
  std::vector<Output> joined;
  std::vector<double> sums;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto [at, is_new] = places.try_emplace(outputs[i].text, joined.size());
    if (is_new) {
      joined.push_back(std::move(outputs[i]));
      sums.push_back(0.0);
    }
    sums[at->second] += weights[i];
  }
  outputs = std::move(joined);
  weights = std::move(sums);
}

void rank_by_agreement(std::vector<Output>& outputs, const metric::TextMetric& metric, double sign,
                       const PredictOptions& o) {
  if (outputs.empty()) return;
  std::vector<double> weights = weights_of(outputs, o);
  join_equal(outputs, weights);
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  std::vector<double> expected(outputs.size(), 0.0);
  constexpr int64_t kCost = 16 * 1024;  // of comparing two texts: each output is a task of its own
  for_pieces(std::ssize(outputs), kCost, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      for (size_t j = 0; j < outputs.size(); ++j)
        if (weights[j] > 0.0)
          expected[i] += weights[j] / sum * metric.segment_score(outputs[i].text, {outputs[j].text}).value;
  });
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].score = sign * expected[i];
  sort_by_score(outputs);
}

}  // namespace

PredictOptions candidate_options(const PredictOptions& o) {
  constexpr int64_t kOfBeam = 10, kOfSamples = 50;
  check_values(o);
  if (!wants_reranking(o)) {
    expect(o.candidates == 0, "candidates {} are only for reranking: they need mbr or rerank_reverse", o.candidates);
    expect(o.rerank_weight == 1.0, "rerank_weight {} needs rerank_reverse", o.rerank_weight);
    return o;
  }
  expect(!o.on_text, "mbr and rerank_reverse choose among whole outputs: none can be shown while it is written");
  if (!o.mbr.empty()) metric_named(o.mbr);
  PredictOptions more = o;
  const int64_t usual = o.sample ? kOfSamples : (o.beam > 1 ? o.beam : kOfBeam);
  more.nbest = o.candidates > 0 ? o.candidates : std::max(usual, o.nbest);
  expect(o.nbest <= more.nbest, "nbest {} needs at least as many candidates, not {}", o.nbest, more.nbest);
  expect(o.sample || o.beam <= 1 || more.nbest <= o.beam, "candidates {} need a beam of at least {}, not {}",
         more.nbest, more.nbest, o.beam);
  if (!o.sample && o.beam == 1) more.beam = more.nbest;  // 0 is as wide as nbest says
  return more;
}

void rerank(std::span<Prediction> predictions, std::span<const std::string> lines, const PredictOptions& o) {
  if (o.rerank_reverse) add_reverse(predictions, lines, o);
  if (!o.mbr.empty()) {
    const metric::MetricEntry& entry = metric_named(o.mbr);
    const std::unique_ptr<metric::TextMetric> metric = entry.make({});
    for (Prediction& prediction : predictions) {
      stop_if_interrupted();
      rank_by_agreement(prediction.nbest, *metric, entry.higher_is_better ? 1.0 : -1.0, o);
    }
  }
  for (Prediction& prediction : predictions)
    if (std::ssize(prediction.nbest) > o.nbest) prediction.nbest.resize(static_cast<size_t>(o.nbest));
}

}  // namespace heed::task
