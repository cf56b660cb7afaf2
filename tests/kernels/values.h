// Every number that goes into attention and comes out of it, in one number type. Layouts are contiguous: [B, heads, T,
// width], or [heads, total, width] when ragged. An empty vector: not there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heed::kernels::test {

template <class T>
using Named = std::vector<std::pair<std::string, std::vector<T>*>>;

/// Inputs and parameters; the same struct holds their gradients.
template <class T>
struct Values {
  std::vector<T> q, k, v;
  std::vector<T> score_v;
  std::vector<std::vector<T>> layer_weight, layer_bias;
  std::vector<T> bias_tensor, alibi_slopes, relative, sink, centre;
  std::vector<T> custom_score, custom_bias;
  std::vector<T> column_lse;  // forced-forward: the first state; empty: starts empty

  Named<T> named() {
    Named<T> all = {{"q", &q},
                    {"k", &k},
                    {"v", &v},
                    {"score_v", &score_v},
                    {"bias_tensor", &bias_tensor},
                    {"alibi_slopes", &alibi_slopes},
                    {"relative", &relative},
                    {"sink", &sink},
                    {"centre", &centre},
                    {"custom_score", &custom_score},
                    {"custom_bias", &custom_bias},
                    {"column_lse", &column_lse}};
    for (size_t l = 0; l < layer_weight.size(); ++l) {
      all.emplace_back("layer_weight[" + std::to_string(l) + "]", &layer_weight[l]);
      all.emplace_back("layer_bias[" + std::to_string(l) + "]", &layer_bias[l]);
    }
    return all;
  }
};

/// What comes out. `weights` is [B, H, longest Tq, longest Tk], zero where there is no pair.
template <class T>
struct Results {
  std::vector<T> out, lse, log_prob, entropy, guide_cost, weights, column_lse;
  std::vector<int32_t> choice;

  Named<T> named() {
    return {{"out", &out},
            {"lse", &lse},
            {"log_prob", &log_prob},
            {"entropy", &entropy},
            {"guide_cost", &guide_cost},
            {"weights", &weights},
            {"column_lse", &column_lse}};
  }
};

/// Gradients that come back from above.
template <class T>
struct Upstream {
  std::vector<T> d_out, d_lse, d_log_prob, d_entropy, d_guide_cost, d_column_lse;

  Named<T> named() {
    return {{"d_out", &d_out},
            {"d_lse", &d_lse},
            {"d_log_prob", &d_log_prob},
            {"d_entropy", &d_entropy},
            {"d_guide_cost", &d_guide_cost},
            {"d_column_lse", &d_column_lse}};
  }
};

template <class To, class From>
std::vector<To> convert(const std::vector<From>& from) {
  return std::vector<To>(from.begin(), from.end());
}

template <class To, class From>
Values<To> convert(Values<From> from) {
  Values<To> to;
  to.layer_weight.resize(from.layer_weight.size());
  to.layer_bias.resize(from.layer_bias.size());
  const Named<From> source = from.named();
  const Named<To> target = to.named();
  for (size_t n = 0; n < source.size(); ++n) *target[n].second = convert<To>(*source[n].second);
  return to;
}

template <class To, class From>
Upstream<To> convert(Upstream<From> from) {
  Upstream<To> to;
  const Named<From> source = from.named();
  const Named<To> target = to.named();
  for (size_t n = 0; n < source.size(); ++n) *target[n].second = convert<To>(*source[n].second);
  return to;
}

/// Zeros in the shape of `like`.
template <class T>
Values<T> zeros_like(Values<T> like) {
  for (auto& [name, values] : like.named()) values->assign(values->size(), T(0));
  return like;
}

}  // namespace heed::kernels::test
