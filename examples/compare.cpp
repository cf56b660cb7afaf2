// slow: 3 s
// Which letters of "3 May 2021" does each letter of "2021-05-03" look at? Seven kinds of attention answer, all through
// the same fused loop. Then the clock: fused against plain.
#include <heed/kernels/attention.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "heat_map.h"
#include "plain_attention.h"

using namespace heed::kernels;
using heat_map::Map;
using heat_map::Terminal;

namespace {

const std::string kSource = "3 May 2021", kTarget = "2021-05-03";
constexpr int64_t kLetters = 10, kDim = 8;

void insist(const Status& status) {
  if (status) return;
  std::puts(status.message().c_str());
  std::exit(1);
}

// ------------------------------------------------------------------------------------------------- letters as vectors

/// What a trained model would have learned about a letter: the field it belongs to, and its place in that field.
struct Role {
  enum Field { day, month, year, gap } field;
  int place;  // -1: any. The number of a month depends on all its letters.
};
const std::vector<Role> kSourceRoles = {{Role::day, 0},   {Role::gap, 0}, {Role::month, 0}, {Role::month, 1},
                                        {Role::month, 2}, {Role::gap, 1}, {Role::year, 0},  {Role::year, 1},
                                        {Role::year, 2},  {Role::year, 3}};
const std::vector<Role> kTargetRoles = {{Role::year, 0}, {Role::year, 1},   {Role::year, 2},   {Role::year, 3},
                                        {Role::gap, 1},  {Role::month, -1}, {Role::month, -1}, {Role::gap, 0},
                                        {Role::day, 0},  {Role::day, 0}};

/// One row a letter: four numbers say the field, four the place. off + on where it applies, off elsewhere.
std::vector<float> vectors(const std::vector<Role>& roles, float field_on, float place_on, float off = 0.0f) {
  std::vector<float> rows(roles.size() * kDim, off);
  for (size_t n = 0; n < roles.size(); ++n) {
    rows[n * kDim + roles[n].field] += field_on;
    if (roles[n].place >= 0) rows[n * kDim + 4 + roles[n].place] += place_on;
  }
  return rows;
}

Problem letters_problem() {
  Problem problem;
  problem.shape = {.queries = kLetters, .keys = kLetters, .dim = kDim, .value_dim = kLetters};
  problem.score.scale = 1.0f / std::sqrt(static_cast<float>(kDim));
  return problem;
}

/// Runs the fused forward, then asks for the weights. The values are the identity matrix: the output, which the forward
/// computes without ever holding the weights, must then be the weights.
Map attend(const std::string& title, const Problem& problem, const std::vector<float>& q, const std::vector<float>& k,
           const std::string& rows = kTarget) {
  std::vector<float> v(kLetters * kLetters, 0.0f), out(kLetters * kLetters), saved(2 * kLetters);
  for (int64_t n = 0; n < kLetters; ++n) v[n * kLetters + n] = 1.0f;
  std::vector<int32_t> choice(kLetters);
  const Inputs in = {.q = contiguous(q.data(), 1, kLetters, kDim),
                     .k = contiguous(k.data(), 1, kLetters, kDim),
                     .v = contiguous<const float>(v.data(), 1, kLetters, kLetters)};
  Outputs outputs = {.out = contiguous(out.data(), 1, kLetters, kLetters), .saved = saved.data()};
  if (problem.normalise.kind == Normaliser::sampled) outputs.choice = choice.data();
  insist(forward(problem, in, outputs));

  Map map = {title, rows, kSource, std::vector<float>(kLetters * kLetters)};
  WeightsRequest request;
  request.dense = map.weights.data();
  insist(weights(problem, in, outputs, request));
  for (size_t n = 0; n < out.size(); ++n)
    if (!(std::fabs(out[n] - map.weights[n]) < 1e-5f)) {
      std::printf("%s: the output and the weights differ\n", title.c_str());
      std::exit(1);
    }
  return map;
}

void show_letters(const Terminal& terminal) {
  const auto q = vectors(kTargetRoles, 3.2f, 2.6f), k = vectors(kSourceRoles, 3.2f, 2.6f);

  std::printf("\n %s   rows: letters written, columns: letters read, weights in percent\n\n",
              terminal.bold("scaled dot product").c_str());
  draw_large(terminal, attend("scaled dot product", letters_problem(), q, k));

  Problem additive = letters_problem();
  // tanh(q' + k') is high only where both are on: the bias of the projection makes it an "and".
  const auto q_additive = vectors(kTargetRoles, 2.0f, 2.0f), k_additive = vectors(kSourceRoles, 2.0f, 2.0f, -3.0f);
  const std::vector<float> v_additive(kDim, 2.5f);
  additive.score = {.kind = ScoreKind::tanh_sum, .v = v_additive.data()};

  Problem sparse = letters_problem();
  sparse.normalise.kind = Normaliser::sparsemax;

  Problem sampled = letters_problem();
  sampled.normalise = {.kind = Normaliser::sampled, .seed = 4};

  Problem local = letters_problem();
  const std::vector<float> centres = {6, 7, 8, 9, 5, 2.5f, 3.5f, 1, 0, 0};  // a model would predict these
  local.region.centre = centres.data();
  local.region.centre_half_width = 2.0f;
  local.region.centre_sigma = 1.0f;

  Problem causal = letters_problem();
  const std::vector<float> slopes = {0.5f};
  causal.region.causal = true;
  causal.bias.alibi_slopes = slopes.data();

  Problem words = letters_problem();
  const std::vector<int32_t> word = {0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  words.region.query_documents = words.region.key_documents = word.data();

  std::printf("\n");
  draw_small(terminal, {attend("additive", additive, q_additive, k_additive), attend("sparsemax", sparse, q, k),
                        attend("hard, sampled", sampled, q, k)});
  std::printf("\n");
  draw_small(terminal, {attend("local, Gaussian", local, q, k), attend("self, causal, ALiBi", causal, k, k, kSource),
                        attend("self, word by word", words, k, k, kSource)});
}

// ------------------------------------------------------------------------------------------------------------ the
// clock

double best_ms(int runs, const std::function<void()>& call) {
  double best = INFINITY;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::vector<float> random_numbers(int64_t count) {
  static std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

/// Prints one line; the times count only where both ways agree.
bool race(const Terminal& terminal, const std::string& name, Problem problem, const std::vector<float>& w) {
  const int64_t heads = problem.shape.heads, tokens = problem.shape.queries, dim = problem.shape.dim;
  const int64_t size = heads * tokens * dim;
  const auto q = random_numbers(size), k = random_numbers(size), v = random_numbers(size);
  std::vector<float> plain_out(size), out(size);
  const auto plain_way = [&] {
    for (int64_t at = 0; at < size; at += tokens * dim) {
      const plain::Head head{tokens, dim, &q[at], &k[at], &v[at], &plain_out[at]};
      if (problem.score.kind == ScoreKind::inner)
        plain::scaled_dot(head);
      else
        plain::additive(head, w.data());
    }
  };
  const auto fused_way = [&] {
    insist(forward(problem,
                   {.q = contiguous(q.data(), heads, tokens, dim),
                    .k = contiguous(k.data(), heads, tokens, dim),
                    .v = contiguous(v.data(), heads, tokens, dim)},
                   {.out = contiguous(out.data(), heads, tokens, dim)}));
  };
  const double plain_ms = best_ms(2, plain_way);
  problem.threads = 1;
  const double one_ms = best_ms(5, fused_way);
  problem.threads = 0;
  const double all_ms = best_ms(5, fused_way);

  float difference = 0.0f;
  for (int64_t n = 0; n < size; ++n) difference = std::max(difference, std::fabs(out[n] - plain_out[n]));
  if (!(difference < 1e-4f)) {
    std::printf(" %s: results differ by %g\n", name.c_str(), static_cast<double>(difference));
    return false;
  }
  char faster[32];
  std::snprintf(faster, sizeof faster, "%7.1f x", plain_ms / one_ms);
  std::printf(" %-33s %8.1f ms %8.1f ms %8.1f ms %s %12.0e\n", name.c_str(), plain_ms, one_ms, all_ms,
              terminal.bold(faster).c_str(), static_cast<double>(difference));
  return true;
}

}  // namespace

int main() {
  const Terminal terminal;
  std::printf("\n %s\n", terminal.bold("heed: \"3 May 2021\" becomes \"2021-05-03\". Who looks where?").c_str());
  show_letters(terminal);

  std::printf("\n %s   %s, forward, the best of several runs\n", terminal.bold("fused against plain").c_str(),
              isa().c_str());
  std::printf(" %-33s %11s %11s %11s %9s %12s\n", "", "plain", "1 thread", "all threads", "faster", "difference");
  Problem dot;
  dot.shape = {.heads = 8, .queries = 1024, .keys = 1024, .dim = 64, .value_dim = 64};
  dot.score.scale = 0.125f;
  Problem additive;
  additive.shape = {.queries = 512, .keys = 512, .dim = 128, .value_dim = 128};
  const auto w = random_numbers(128);
  additive.score = {.kind = ScoreKind::tanh_sum, .v = w.data()};
  const bool agree =
      race(terminal, "scaled dot, 8 heads, 1024 x 1024", dot, {}) && race(terminal, "additive, 512 x 512", additive, w);
  std::printf(
      "\n plain: C++ loops on one thread that keep all scores in memory (examples/plain_attention.h), vectorised by\n"
      " the compiler for its baseline. faster: plain / 1 thread. difference: the largest between both outputs.\n"
      " `make bench` compares with BLAS and PyTorch.\n\n");
  return agree ? 0 : 1;
}
