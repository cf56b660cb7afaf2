// The fused loop: every score, normaliser, region, bias and weigh stage, shapes that are no multiple of anything, and
// few queries with a cache.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/bits/bits.h"
#include "tests/kernels/combinations.h"
#include "tests/kernels/library.h"

namespace heed::bits {
namespace {

namespace kt = kernels::test;
using kernels::Shape;
using Change = std::function<void(kt::Case&)>;

constexpr Shape kSmall = {.batch = 2, .heads = 2, .queries = 19, .keys = 37, .dim = 12, .value_dim = 10};

/// All real inputs anew: fill() draws normal numbers, and those come from the logarithm and cosine of this machine.
void fill_by_integers(kt::Case& c, float reach) {
  c.fill(1);
  Numbers numbers(17);
  const auto fill = [&](std::vector<double>& values, float low, float high) {
    for (double& value : values) value = numbers.between(low, high);
  };
  for (auto& [name, values] : c.x.named()) fill(*values, -1.0f, 1.0f);
  for (auto& [name, values] : c.up.named()) fill(*values, -2.0f, 2.0f);
  fill(c.x.q, -reach, reach);
  fill(c.x.k, -reach, reach);
  fill(c.x.v, -2.0f, 2.0f);
  fill(c.x.alibi_slopes, 0.0625f, 0.5f);
  fill(c.x.custom_score, 0.0625f, 0.25f);
  fill(c.x.centre, 0.0f, static_cast<float>(c.longest_keys()));
  fill(c.guide_tensor, 0.0f, 1.0f);
  if (c.x.column_lse.size() > 2) c.x.column_lse[1] = -INFINITY;
}

void require(const kernels::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::abort();
}

void run(const kt::Case& c, Hashes& hashes, int threads) {
  kt::Library library(c, {}, threads);
  require(library.forward());
  require(library.weights());
  for (const auto& [name, values] : library.results.named()) hashes.add(name, *values);
  hashes.add("choice", library.results.choice);
  require(library.backward());
  for (const auto& [name, values] : library.grad.named()) hashes.add("d_" + name, *values);
}

class Cases {
 public:
  explicit Cases(std::vector<Case>& to) : to_(to) {}

  void add(const std::string& name, const Shape& shape, const Change& change, float reach = 2.0f) {
    to_.push_back({"kernels/" + name, [=](Hashes& hashes, int threads) {
                     kt::Case c(shape);
                     change(c);
                     fill_by_integers(c, reach);
                     run(c, hashes, threads);
                   }});
  }

 private:
  std::vector<Case>& to_;
};

void add_scores(Cases& cases) {
  for (const kt::Part& score : kt::all_scores()) cases.add("score/" + score.name, kSmall, score.apply);
  // tanh_sum takes four dimensions to a reciprocal, two or one, or tanh itself, by how large its arguments are.
  for (const int reach : {4, 8, 16, 30, 90})
    cases.add(
        "score/tanh_sum_to_" + std::to_string(reach), kSmall, [](kt::Case& c) { c.with_tanh_sum(); },
        static_cast<float>(reach));
  cases.add(
      "score/inner_large", kSmall, [](kt::Case&) {}, 60.0f);
  cases.add("score/grouped_heads",
            {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 19, .keys = 37, .dim = 12, .value_dim = 10},
            [](kt::Case&) {});
  cases.add("score/grouped_heads_tanh_sum",
            {.batch = 1, .heads = 4, .kv_heads = 1, .queries = 9, .keys = 21, .dim = 12, .value_dim = 10},
            [](kt::Case& c) { c.with_tanh_sum(true); });
}

void add_normalisers_and_regions(Cases& cases) {
  const std::vector<kt::Part> scores = {{"inner", [](kt::Case&) {}},
                                        {"tanh_sum", [](kt::Case& c) { c.with_tanh_sum(); }}};
  for (const kt::Part& score : scores) {
    const auto with = [&](const kt::Part& part) {
      return [score, part](kt::Case& c) { score.apply(c), part.apply(c); };
    };
    for (const kt::Part& part : kt::all_normalisers())
      cases.add("normalise/" + part.name + "_of_" + score.name, kSmall, with(part));
    for (const kt::Part& part : kt::all_regions())
      cases.add("region/" + part.name + "_of_" + score.name, kSmall, with(part));
  }
  cases.add("region/ragged", kSmall, [](kt::Case& c) { c.with_ragged({5, 0, 17}, {9, 3, 40}); });
  cases.add("region/ragged_causal_entmax15", kSmall, [](kt::Case& c) {
    c.with_ragged({5, 1, 17}, {9, 3, 40});
    c.problem.region.causal = true;
    c.problem.region.align = kernels::Align::bottom_right;
    c.problem.normalise.kind = kernels::Normaliser::entmax15;
  });
}

void add_biases_and_weigh_stages(Cases& cases) {
  cases.add("bias/tensor", kSmall, [](kt::Case& c) { c.with_tensor(true, true, true, true); });
  cases.add("bias/tensor_per_key", kSmall, [](kt::Case& c) { c.with_tensor(false, false, false, true); });
  cases.add("bias/tensor_per_query", kSmall, [](kt::Case& c) { c.with_tensor(false, true, true, false); });
  cases.add("bias/alibi", kSmall, [](kt::Case& c) { c.with_alibi(); });
  cases.add("bias/relative", kSmall, [](kt::Case& c) { c.with_relative(5, true); });
  cases.add("bias/sink", kSmall, [](kt::Case& c) { c.with_sink(); });
  cases.add("bias/all", kSmall, [](kt::Case& c) {
    c.with_tensor(false, true, true, true).with_alibi().with_relative(3, false).with_sink();
    c.problem.score.softcap = 3.0f;
  });
  cases.add("weigh/gaussian", kSmall, [](kt::Case& c) { c.with_centre(9.5f, 3.0f); });
  cases.add("weigh/guide", kSmall, [](kt::Case& c) { c.with_guide(0.25f); });
  cases.add("weigh/guide_tensor", kSmall, [](kt::Case& c) { c.with_guide_tensor(false, true, true, true); });
  for (const auto kind : {kernels::Normaliser::softmax, kernels::Normaliser::sparsemax})
    cases.add(kind == kernels::Normaliser::softmax ? "weigh/dropout" : "weigh/dropout_sparsemax", kSmall,
              [kind](kt::Case& c) {
                c.problem.dropout = {.p = 0.25f, .seed = 99};
                c.problem.normalise.kind = kind;
                c.with_guide(0.25f);
              });
}

void add_shapes(Cases& cases) {
  const auto tanh_sum = [](kt::Case& c) { c.with_tanh_sum(); };
  const auto plain = [](kt::Case&) {};
  const auto cache = [](kt::Case& c) {
    c.problem.region.causal = true;
    c.problem.region.align = kernels::Align::bottom_right;
    c.with_key_lengths({200, 131});
  };
  for (const int64_t queries : {1, 2, 3, 4}) {
    const Shape shape = {.batch = 2, .heads = 2, .queries = queries, .keys = 200, .dim = 32, .value_dim = 24};
    cases.add("shape/decode_" + std::to_string(queries), shape, cache);
  }
  cases.add("shape/decode_1_tanh_sum", {.batch = 2, .heads = 2, .queries = 1, .keys = 200, .dim = 32, .value_dim = 24},
            [=](kt::Case& c) { cache(c), tanh_sum(c); });
  for (const int64_t keys : {1, 7, 63, 65, 257}) {
    const Shape shape = {.heads = 2, .queries = keys, .keys = keys, .dim = 33, .value_dim = 17};
    cases.add("shape/square_" + std::to_string(keys), shape, plain);
    cases.add("shape/one_query_" + std::to_string(keys) + "_tanh_sum",
              {.heads = 2, .queries = 1, .keys = keys, .dim = 64, .value_dim = 64}, tanh_sum);
  }
  for (const int64_t dim : {1, 2, 3, 5, 8, 16, 31, 64, 128})
    cases.add("shape/dim_" + std::to_string(dim), {.queries = 21, .keys = 29, .dim = dim, .value_dim = dim}, plain);
  // The path of its own that decoding takes: in one block, in several, and in parts.
  for (const int64_t keys : {7, 200, 1500, 5000})
    for (const int64_t kv_heads : {1, 4})
      cases.add("shape/decoding_" + std::to_string(keys) + "_keys_" + std::to_string(kv_heads) + "_key_heads",
                {.heads = 4, .kv_heads = kv_heads, .queries = 1, .keys = keys, .dim = 64, .value_dim = 64}, plain);
  cases.add("shape/several_blocks_causal", {.heads = 2, .queries = 300, .keys = 300, .dim = 64, .value_dim = 64},
            [](kt::Case& c) { c.problem.region.causal = true; });
  cases.add("shape/several_blocks_tanh_sum", {.queries = 150, .keys = 260, .dim = 32, .value_dim = 32}, tanh_sum);
  cases.add("shape/several_blocks_mlp", {.queries = 130, .keys = 140, .dim = 16, .value_dim = 16},
            [](kt::Case& c) { c.with_mlp(kernels::MlpActivation::gelu, {9}); });
}

}  // namespace

void add_kernel_cases(std::vector<Case>& to) {
  Cases cases(to);
  add_scores(cases);
  add_normalisers_and_regions(cases);
  add_biases_and_weigh_stages(cases);
  add_shapes(cases);
}

}  // namespace heed::bits
