#include "case.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

namespace heed::bench {

using kernels::ScoreKind;

const std::vector<CaseSpec>& all_cases() {
  static const std::vector<CaseSpec> kCases = {
      {.name = "inner_fwd_64", .heads = 8, .queries = 1024, .keys = 1024, .dim = 64},
      {.name = "inner_fwd_128", .heads = 8, .queries = 1024, .keys = 1024, .dim = 128},
      {.name = "inner_fwd_causal", .heads = 8, .queries = 1024, .keys = 1024, .dim = 64, .causal = true},
      {.name = "inner_train", .heads = 8, .queries = 1024, .keys = 1024, .dim = 64, .train = true},
      {.name = "short_fwd", .batch = 64, .heads = 8, .queries = 32, .keys = 32, .dim = 64},
      {.name = "short_train", .batch = 64, .heads = 8, .queries = 32, .keys = 32, .dim = 64, .train = true},
      {.name = "additive_fwd", .score = ScoreKind::tanh_sum, .queries = 512, .keys = 512, .dim = 128, .plain = false},
      {.name = "additive_train",
       .score = ScoreKind::tanh_sum,
       .queries = 512,
       .keys = 512,
       .dim = 128,
       .train = true,
       .plain = false},
      {.name = "window_8k", .queries = 8192, .keys = 8192, .dim = 64, .window = 64, .plain = false},
      {.name = "window_16k", .queries = 16384, .keys = 16384, .dim = 64, .window = 64, .plain = false},
      {.name = "global_16k", .queries = 16384, .keys = 16384, .dim = 64, .plain = false},
      {.name = "decode", .batch = 8, .heads = 8, .queries = 1, .keys = 4096, .dim = 64},
  };
  return kCases;
}

const std::vector<CaseSpec>& decode_cases() {
  static const std::vector<CaseSpec> kCases = [] {
    constexpr double kMostBytes = 4e9;  // of keys and values: they exist once for heed and once for each peer
    std::vector<CaseSpec> cases;
    for (const int64_t kv_heads : {8, 1})
      for (const int64_t batch : {1, 8, 64})
        for (const int64_t keys : {128, 1024, 4096, 16384, 65536}) {
          CaseSpec spec{
              .name = "decode_b" + std::to_string(batch) + "_g" + std::to_string(kv_heads) + "_" + std::to_string(keys),
              .batch = batch,
              .heads = 8,
              .queries = 1,
              .keys = keys,
              .kv_heads = kv_heads,
              .dim = 64};
          if (spec.kv_bytes() <= kMostBytes) cases.push_back(std::move(spec));
        }
    return cases;
  }();
  return kCases;
}

const CaseSpec* find_case(const std::string& name) {
  for (const auto* cases : {&all_cases(), &decode_cases()})
    for (const CaseSpec& spec : *cases)
      if (spec.name == name) return &spec;
  return nullptr;
}

double CaseSpec::pairs() const {
  const double per_head = static_cast<double>(queries) * static_cast<double>(keys);
  const double all_heads = static_cast<double>(batch * heads);
  if (causal) return 0.5 * per_head * all_heads;
  if (window < 0) return per_head * all_heads;
  double visible = 0;
  for (int64_t i = 0; i < queries; ++i)
    visible += static_cast<double>(std::min(keys - 1, i + window) - std::max<int64_t>(0, i - window) + 1);
  return visible * all_heads;
}

double CaseSpec::flops() const {
  if (score != ScoreKind::inner) return 0.0;
  return (train ? 12.0 : 4.0) * pair_dims();
}

Case::Case(const CaseSpec& spec) : spec_(spec) {
  const int64_t heads = spec.batch * spec.heads;
  const int64_t q_size = heads * spec.queries * spec.dim, k_size = spec.batch * spec.groups() * spec.keys * spec.dim;
  const auto random = [](int64_t size, uint32_t seed, float scale = 1.0f) {
    Buffer buffer(size);
    fill_random(buffer, seed, scale);
    return buffer;
  };
  const auto zero = [](int64_t size) {
    Buffer buffer(size);
    fill_zero(buffer);
    return buffer;
  };
  q_ = random(q_size, 1);
  k_ = random(k_size, 2);
  v_ = random(k_size, 3);
  out_ = zero(q_size);
  if (spec.score == ScoreKind::tanh_sum) score_v_ = random(spec.dim, 4, 1.0f / std::sqrt(static_cast<float>(spec.dim)));
  if (spec.train) {
    d_out_ = random(q_size, 5);
    saved_ = zero(2 * heads * spec.queries);
    kept_scores_ = zero(kernels::kept_scores_floats(problem(1)));
    d_q_ = zero(q_size);
    d_k_ = zero(k_size);
    d_v_ = zero(k_size);
    if (!score_v_.empty()) d_score_v_ = zero(spec.dim);
  }
  if (!spec.plain) return;
  // The one query of each head of a group stands below the other: they are rows of one product.
  const int64_t group = spec.heads / spec.groups();
  const PlainShape shape = {.batch_heads = heads / group,
                            .queries = spec.queries * group,
                            .keys = spec.keys,
                            .dim = spec.dim,
                            .scale = problem(1).score.scale,
                            .causal = spec.causal};
  plain_ = std::make_unique<Plain>(shape, spec.train);
  plain_out_ = zero(q_size);
  if (!spec.train) return;
  plain_d_q_ = zero(q_size);
  plain_d_k_ = zero(k_size);
  plain_d_v_ = zero(k_size);
}

kernels::Problem Case::problem(int threads) const {
  kernels::Problem p;
  p.shape.batch = spec_.batch;
  p.shape.heads = spec_.heads;
  p.shape.kv_heads = spec_.kv_heads;
  p.shape.queries = spec_.queries;
  p.shape.keys = spec_.keys;
  p.shape.dim = spec_.dim;
  p.shape.value_dim = spec_.dim;
  p.score.kind = spec_.score;
  if (spec_.score == ScoreKind::inner) p.score.scale = 1.0f / std::sqrt(static_cast<float>(spec_.dim));
  if (!score_v_.empty()) p.score.v = score_v_.data();
  p.region.causal = spec_.causal;
  p.region.window_left = spec_.window;
  p.region.window_right = spec_.window;
  p.threads = threads;
  return p;
}

kernels::Inputs Case::inputs() const {
  const auto view = [&](const Buffer& b, int64_t heads, int64_t rows) {
    return kernels::contiguous<const float>(b.data(), heads, rows, spec_.dim);
  };
  const int64_t groups = spec_.groups();
  return {view(q_, spec_.heads, spec_.queries), view(k_, groups, spec_.keys), view(v_, groups, spec_.keys)};
}

std::string Case::run_heed(int threads) {
  const auto view = [&](const Buffer& b, int64_t rows) {
    return kernels::contiguous(b.data(), spec_.heads, rows, spec_.dim);
  };
  const kernels::Problem p = problem(threads);
  const kernels::Inputs in = inputs();
  kernels::Outputs out;
  out.out = view(out_, spec_.queries);
  out.saved = saved_.data();
  out.kept_scores = kept_scores_.data();
  const kernels::Status forward = kernels::forward(p, in, out);
  if (!forward) return forward.message();
  if (!spec_.train) return {};

  kernels::BackwardInputs from;
  from.out = kernels::contiguous<const float>(out_.data(), spec_.heads, spec_.queries, spec_.dim);
  from.saved = saved_.data();
  from.kept_scores = kept_scores_.data();
  from.d_out = kernels::contiguous<const float>(d_out_.data(), spec_.heads, spec_.queries, spec_.dim);
  kernels::Gradients grad;
  grad.d_q = view(d_q_, spec_.queries);
  grad.d_k = view(d_k_, spec_.keys);
  grad.d_v = view(d_v_, spec_.keys);
  grad.d_score_v = d_score_v_.data();
  const kernels::Status backward = kernels::backward(p, in, from, grad);
  return backward ? std::string() : backward.message();
}

void Case::run_plain(int threads) {
  const PlainInputs in{q_.data(), k_.data(), v_.data()};
  plain_->forward(in, plain_out_.data(), threads);
  if (!spec_.train) return;
  plain_->backward(in, d_out_.data(), {plain_d_q_.data(), plain_d_k_.data(), plain_d_v_.data()}, threads);
}

float Case::run_read(int threads, Streams streams) const { return read_all(k_.span(), v_.span(), threads, streams); }

int64_t Case::kv_head(int64_t batch_head) const { return batch_head / (spec_.heads / spec_.groups()); }

std::vector<double> Case::reference_row(int64_t batch_head, int64_t query) const {
  const int64_t dim = spec_.dim, keys = spec_.keys;
  const float* q = q_.data() + (batch_head * spec_.queries + query) * dim;
  const float* k = k_.data() + kv_head(batch_head) * keys * dim;
  const float* v = v_.data() + kv_head(batch_head) * keys * dim;
  std::vector<double> scores(static_cast<size_t>(keys), -INFINITY);
  double largest = -INFINITY;
  for (int64_t j = 0; j < keys; ++j) {
    if (spec_.causal && j > query) continue;
    if (spec_.window >= 0 && std::abs(j - query) > spec_.window) continue;
    double score = 0;
    for (int64_t d = 0; d < dim; ++d) {
      const double a = q[d], b = k[j * dim + d];
      score += spec_.score == ScoreKind::inner ? a * b / std::sqrt(static_cast<double>(dim))
                                               : score_v_.data()[d] * std::tanh(a + b);
    }
    scores[static_cast<size_t>(j)] = score;
    largest = std::max(largest, score);
  }
  std::vector<double> out(static_cast<size_t>(dim), 0.0);
  double total = 0;
  for (int64_t j = 0; j < keys; ++j) {
    const double weight = std::exp(scores[static_cast<size_t>(j)] - largest);
    total += weight;
    for (int64_t d = 0; d < dim; ++d) out[static_cast<size_t>(d)] += weight * v[j * dim + d];
  }
  for (double& x : out) x /= total;
  return out;
}

double Case::reference_difference() const {
  const int64_t heads = spec_.batch * spec_.heads;
  const int64_t rows = heads * spec_.queries, checked = std::min<int64_t>(rows, 16);
  double difference = 0, largest = 0;
  for (int64_t n = 0; n < checked; ++n) {
    // From the first row to the last, evenly: the edges of causal and window are among them.
    const int64_t row = checked == 1 ? 0 : n * (rows - 1) / (checked - 1);
    const std::vector<double> expected = reference_row(row / spec_.queries, row % spec_.queries);
    for (int64_t d = 0; d < spec_.dim; ++d) {
      const double got = out_.data()[row * spec_.dim + d], want = expected[static_cast<size_t>(d)];
      if (!std::isfinite(got)) return INFINITY;
      difference = std::max(difference, std::abs(got - want));
      largest = std::max(largest, std::abs(want));
    }
  }
  return difference / largest;
}

double Case::plain_difference() const {
  const auto compare = [](const Buffer& got, const Buffer& want) {
    double difference = 0, largest = 1e-30;
    for (int64_t i = 0; i < got.size(); ++i) {
      if (!std::isfinite(got.data()[i])) return static_cast<double>(INFINITY);
      difference = std::max(difference, std::abs(static_cast<double>(got.data()[i]) - want.data()[i]));
      largest = std::max(largest, std::abs(static_cast<double>(want.data()[i])));
    }
    return difference / largest;
  };
  double worst = compare(out_, plain_out_);
  if (spec_.train)
    worst = std::max({worst, compare(d_q_, plain_d_q_), compare(d_k_, plain_d_k_), compare(d_v_, plain_d_v_)});
  return worst;
}

std::string Case::path() const { return kernels::explain(problem(1)).path; }

nlohmann::json Case::describe() const {
  return {{"case", spec_.name},
          {"score", spec_.score == ScoreKind::inner ? "inner" : "tanh_sum"},
          {"batch", spec_.batch},
          {"heads", spec_.heads},
          {"kv_heads", spec_.groups()},
          {"queries", spec_.queries},
          {"keys", spec_.keys},
          {"dim", spec_.dim},
          {"causal", spec_.causal},
          {"window", spec_.window},
          {"train", spec_.train},
          {"flops", spec_.flops()},
          {"pair_dims", spec_.pair_dims()},
          {"kv_bytes", spec_.kv_bytes()}};
}

void Case::check(nlohmann::json& about) {
  const int threads = omp_get_num_procs();
  const std::string refused = run_heed(threads);
  if (!refused.empty()) {
    about["error"] = refused;
    return;
  }
  const double difference = reference_difference();
  about["difference"] = difference;
  about["path"] = path();
  if (!(difference <= kAgreement)) {
    about["error"] = "heed disagrees with the formula in double";
    return;
  }
  if (!plain_) return;
  run_plain(threads);
  const double plain = plain_difference();
  about["plain_difference"] = plain;
  plain_agrees_ = plain <= kAgreement;
}

std::vector<Contest::Contestant> Case::contestants() {
  std::vector<Contestant> all = {{"heed", [this](int threads) { run_heed(threads); }}};
  if (plain_agrees_) all.emplace_back("plain", [this](int threads) { run_plain(threads); });
  const auto reader = [this](Streams streams) {
    return [this, streams](int threads) {
      volatile float sink = run_read(threads, streams);
      static_cast<void>(sink);
    };
  };
  if (spec_.decodes()) {
    all.emplace_back("read_eight", reader(Streams::eight));
    all.emplace_back("read_one", reader(Streams::one));
  }
  return all;
}

bool Case::dump(const std::string& directory) {
  const std::vector<int64_t> q_shape = {spec_.batch, spec_.heads, spec_.queries, spec_.dim};
  const std::vector<int64_t> k_shape = {spec_.batch, spec_.groups(), spec_.keys, spec_.dim};
  const auto write = [&](const char* name, const Buffer& buffer, const std::vector<int64_t>& shape) {
    return buffer.empty() || write_npy(directory + "/" + name + ".npy", buffer.data(), shape);
  };
  return write("q", q_, q_shape) && write("k", k_, k_shape) && write("v", v_, k_shape) &&
         write("score_v", score_v_, {spec_.dim}) && write("d_out", d_out_, q_shape) && write("out", out_, q_shape) &&
         write("d_q", d_q_, q_shape) && write("d_k", d_k_, k_shape) && write("d_v", d_v_, k_shape) &&
         write("d_score_v", d_score_v_, {spec_.dim});
}

}  // namespace heed::bench
