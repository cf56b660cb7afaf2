#include "heed/text/metric/distinct.h"

#include <fmt/format.h>

#include <string_view>

#include "heed/text/words.h"

namespace heed::metric {

Distinct::Distinct(size_t n, std::span<const std::string> outputs) : n_(n) {
  for (const std::string& output : outputs)
    for (std::string& ngram : ngrams(output)) ++counts_[std::move(ngram)];
}

std::vector<std::string> Distinct::ngrams(const std::string& text) const {
  std::vector<std::string_view> words;
  text::for_each_word(text, [&](std::string_view word) { words.push_back(word); });
  std::vector<std::string> all;
  for (size_t i = 0; i + n_ <= words.size(); ++i) {
    std::string ngram(words[i]);
    for (size_t k = 1; k < n_; ++k) ngram.append(" ").append(words[i + k]);
    all.push_back(std::move(ngram));
  }
  return all;
}

std::vector<double> Distinct::of_segment(const std::string& hypothesis, const Texts&) const {
  const std::vector<std::string> all = ngrams(hypothesis);
  std::unordered_map<std::string, int64_t> own;
  for (const std::string& ngram : all) ++own[ngram];
  double different = 0.0;
  for (const std::string& ngram : all) {
    const auto known = counts_.find(ngram);
    different += 1.0 / static_cast<double>(known != counts_.end() ? known->second : own[ngram]);
  }
  return {different, static_cast<double>(all.size())};
}

Score Distinct::score(std::span<const double> total) const {
  return {.name = fmt::format("distinct-{}", n_),
          .value = total[1] > 0 ? 100 * total[0] / total[1] : 0.0,
          .higher_is_better = true,
          .details = fmt::format("({:.0f} different of {:.0f})", total[0], total[1]),
          .parts = {{"different", total[0]}, {"all", total[1]}}};
}

}  // namespace heed::metric
