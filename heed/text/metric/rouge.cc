#include "heed/text/metric/rouge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "heed/text/metric/ngrams.h"
#include "heed/text/metric/unicode.h"

namespace heed::metric {

namespace {

bool is_of_a_word(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9'); }

std::vector<std::u32string> words_of(const std::string& text) {
  std::vector<std::u32string> words;
  bool inside = false;
  for (const char32_t c : code_points(lowered(text))) {
    const bool goes_on = is_of_a_word(c);
    if (goes_on && !inside) words.emplace_back();
    if (goes_on) words.back() += c;
    inside = goes_on;
  }
  return words;
}

int64_t longest_common(std::span<const int32_t> a, std::span<const int32_t> b) {
  std::vector<int64_t> row(b.size() + 1, 0);
  for (const int32_t word : a) {
    int64_t before = 0;  // of the row above, one to the left
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = row[j];
      row[j] = word == b[j - 1] ? before + 1 : std::max(above, row[j - 1]);
      before = above;
    }
  }
  return row.back();
}

/// F, P, R, 1
std::vector<double> row_of(int64_t shared, int64_t said, int64_t right) {
  const double p = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(said, 1));
  const double r = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(right, 1));
  return {p + r > 0 ? 2 * p * r / (p + r) : 0.0, p, r, 1.0};
}

}  // namespace

std::vector<double> Rouge::of_segment(const std::string& hypothesis, const Texts& references) const {
  WordNumbers numbers;
  const std::vector<int32_t> said = numbers.of(words_of(hypothesis));
  const size_t order = kind_ == RougeKind::two ? 2 : 1;
  Ngrams ngrams(order);
  std::vector<double> best;
  for (const std::string& reference : references) {
    const std::vector<int32_t> right = numbers.of(words_of(reference));
    std::vector<double> row;
    if (kind_ == RougeKind::longest) {
      row = row_of(longest_common(said, right), std::ssize(said), std::ssize(right));
    } else {
      const NgramCounts a = ngrams.count(said), b = ngrams.count(right);
      row = row_of(matching(a[order - 1], b[order - 1]), sum(a[order - 1]), sum(b[order - 1]));
    }
    if (best.empty() || row[0] > best[0]) best = row;
  }
  return best;
}

Score Rouge::score(std::span<const double> total) const {
  const auto mean = [&](size_t i) { return total[3] > 0 ? 100 * total[i] / total[3] : 0.0; };
  const char* name = kind_ == RougeKind::one ? "ROUGE-1" : kind_ == RougeKind::two ? "ROUGE-2" : "ROUGE-L";
  return {.name = name,
          .value = mean(0),
          .higher_is_better = true,
          .details = fmt::format("(P = {:.2f} R = {:.2f})", mean(1), mean(2)),
          .parts = {{"precision", mean(1)}, {"recall", mean(2)}}};
}

}  // namespace heed::metric
