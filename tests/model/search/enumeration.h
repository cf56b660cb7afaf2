// Everything that a FixedGenerator can say, with its probability in double.
#pragma once

#include "tests/model/search/fixed_generator.h"
#include "tests/model/search/found.h"

namespace heed::search::test {

inline std::vector<double> log_probabilities(std::span<const float> logits) {
  double sum = 0.0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x));
  std::vector<double> all;
  for (const float x : logits) all.push_back(static_cast<double>(x) - std::log(sum));
  return all;
}

/// All outputs of at most `longest` steps; their score is log p.
inline std::vector<Hypothesis> everything(const FixedGenerator& generator, std::span<const int32_t> source,
                                          int64_t longest) {
  std::vector<Hypothesis> all, open = {{}};
  for (int64_t t = 0; t < longest; ++t) {
    std::vector<Hypothesis> longer;
    for (const Hypothesis& h : open) {
      const std::vector<double> p = log_probabilities(generator.logits_after(source, h.tokens));
      for (int32_t v = 0; v < std::ssize(p); ++v) {
        Hypothesis next = h;
        next.score = next.log_probability += p[static_cast<size_t>(v)];
        next.token_log_probabilities.push_back(static_cast<float>(p[static_cast<size_t>(v)]));
        next.finished = v == kEnd;
        if (!next.finished) next.tokens.push_back(v);
        (next.finished ? all : longer).push_back(next);
      }
    }
    open = longer;
  }
  all.insert(all.end(), open.begin(), open.end());
  return all;
}

inline bool contains(const std::vector<int32_t>& tokens, const std::vector<int32_t>& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

}  // namespace heed::search::test
