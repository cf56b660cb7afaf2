// Links, given alignments, against the same costs as a dense tensor: the same bits, forward and backward.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "heed/kernels/attention.h"

namespace heed::kernels {
namespace {

/// Three sequences with 5, 70 and 1 queries on 3, 90 and 17 keys; two heads.
struct Small {
  static constexpr int64_t kHeads = 2, kDim = 6, kWidest = 90;
  std::vector<int64_t> query_offsets = {0, 5, 75, 76}, key_offsets = {0, 3, 93, 110};
  std::vector<float> q, k, v, d_out, d_cost, dense;
  std::vector<int64_t> aligned_offsets = {0};
  std::vector<int32_t> aligned_keys;

  Small() {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& x, int64_t n) {
      for (int64_t i = 0; i < n; ++i) x.push_back(normal(random));
    };
    fill(q, 76 * kHeads * kDim);
    fill(k, 110 * kHeads * kDim);
    fill(v, 110 * kHeads * kDim);
    fill(d_out, 76 * kHeads * kDim);
    fill(d_cost, 76 * kHeads);
    dense.assign(76 * kWidest, 0.0f);
    for (size_t b = 0; b < 3; ++b)
      for (int64_t r = query_offsets[b]; r < query_offsets[b + 1]; ++r) {
        const int64_t keys = key_offsets[b + 1] - key_offsets[b];
        for (int64_t n = 0; n < r % 4; ++n) {  // none to three, some of them twice
          const auto key = static_cast<int32_t>((7 * r + 31 * n) % keys);
          aligned_keys.push_back(key);
          dense[static_cast<size_t>(r * kWidest + key)] = 1.0f;
        }
        aligned_offsets.push_back(std::ssize(aligned_keys));
      }
  }

  Problem problem(bool links, Normaliser kind) const {
    Problem p;
    p.shape = {.batch = 3, .heads = kHeads, .dim = kDim, .value_dim = kDim};
    p.ragged.query_offsets = query_offsets.data();
    p.ragged.key_offsets = key_offsets.data();
    p.normalise.kind = kind;
    p.dropout = {.p = 0.25f, .seed = 4};
    if (links) {
      p.guide.aligned_offsets = aligned_offsets.data();
      p.guide.aligned_keys = aligned_keys.data();
    } else {
      p.guide.tensor = dense.data();
      p.guide.query = kWidest;
      p.guide.key = 1;
      p.guide.packed = true;
    }
    return p;
  }

  /// Everything that comes out, one behind the other.
  std::vector<float> run(bool links, Normaliser kind) const {
    const Problem p = problem(links, kind);
    const auto view = [](auto* data) {
      return Strided<std::remove_pointer_t<decltype(data)>>{data, 0, kDim, kHeads * kDim, 1};
    };
    std::vector<float> out(q.size()), saved(2 * 76 * kHeads), cost(76 * kHeads);
    std::vector<int32_t> choice(76 * kHeads);
    std::vector<float> d_q(q.size()), d_k(k.size()), d_v(v.size());
    const Inputs in{view(q.data()), view(k.data()), view(v.data())};
    Outputs outputs;
    outputs.out = view(out.data());
    outputs.saved = saved.data();
    outputs.guide_cost = cost.data();
    if (kind == Normaliser::argmax) outputs.choice = choice.data();
    const Status status = forward(p, in, outputs);
    EXPECT_TRUE(status) << status.message();
    BackwardInputs from;
    from.out = view(static_cast<const float*>(out.data()));
    from.saved = saved.data();
    from.guide_cost = cost.data();
    from.choice = outputs.choice;
    from.d_out = view(d_out.data());
    from.d_guide_cost = d_cost.data();
    Gradients grad;
    grad.d_q = view(d_q.data());
    grad.d_k = view(d_k.data());
    grad.d_v = view(d_v.data());
    const Status back = backward(p, in, from, grad);
    EXPECT_TRUE(back) << back.message();
    std::vector<float> all = cost;
    for (const auto* part : {&out, &d_q, &d_k, &d_v}) all.insert(all.end(), part->begin(), part->end());
    return all;
  }
};

TEST(Links, AreADenseCostOfOnes) {
  const Small small;
  for (const Normaliser kind : {Normaliser::softmax, Normaliser::sparsemax, Normaliser::sigmoid, Normaliser::argmax}) {
    const std::vector<float> links = small.run(true, kind), dense = small.run(false, kind);
    EXPECT_EQ(links, dense) << static_cast<int>(kind);
    double sum = 0.0;
    for (int64_t i = 0; i < 152; ++i) sum += links[static_cast<size_t>(i)];
    EXPECT_GT(sum, 0.1);
  }
}

TEST(Links, CannotBeCombined) {
  const Small small;
  Problem p = small.problem(true, Normaliser::softmax);
  p.guide.sigma = 0.3f;
  std::vector<float> out(small.q.size());
  const auto view = [](auto* data) { return Strided<std::remove_pointer_t<decltype(data)>>{data, 0, 6, 12, 1}; };
  Outputs outputs;
  outputs.out = view(out.data());
  const Status status = check(p, {view(small.q.data()), view(small.k.data()), view(small.v.data())}, outputs);
  EXPECT_FALSE(status);
  EXPECT_NE(status.message().find("guide: expected links"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace heed::kernels
