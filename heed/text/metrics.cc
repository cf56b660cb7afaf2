#include "heed/text/metrics.h"

#include <algorithm>
#include <string_view>

#include "heed/tensor/error.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed {

namespace {

template <class Hypotheses, class References>
void expect_references(const char* metric, const Hypotheses& hypotheses, const References& references) {
  expect(hypotheses.size() == references.size(), "{}: {} hypotheses, but references for {}", metric, hypotheses.size(),
         references.size());
  for (size_t i = 0; i < references.size(); ++i)
    expect(!references[i].empty(), "{}: hypothesis {} has no reference", metric, i + 1);
}

/// `tokens` cuts what is compared into tokens.
template <class Hypotheses, class References, class Tokens>
ErrorRate error_rate(const char* metric, const Hypotheses& hypotheses, const References& references, Tokens tokens) {
  expect_references(metric, hypotheses, references);
  ErrorRate sum;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto said = tokens(hypotheses[i]);
    Edits best;
    int64_t length = -1;
    for (const auto& reference : references[i]) {
      const auto wanted = tokens(reference);
      const Edits edits = edit_distance(wanted, said);
      if (length >= 0 && edits.total() >= best.total()) continue;
      best = edits;
      length = static_cast<int64_t>(wanted.size());
    }
    sum.edits += best;
    sum.tokens += length;
  }
  return sum;
}

}  // namespace

double Accuracy::rate() const { return count == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(count); }

double ErrorRate::rate() const {
  if (tokens == 0) return edits.total() == 0 ? 0.0 : 1.0;
  return static_cast<double>(edits.total()) / static_cast<double>(tokens);
}

Accuracy exact_match(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  expect_references("exact match", hypotheses, references);
  Accuracy accuracy;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto& right = references[i];
    ++accuracy.count;
    accuracy.right += std::find(right.begin(), right.end(), hypotheses[i]) != right.end();
  }
  return accuracy;
}

ErrorRate word_error_rate(std::span<const std::string> hypotheses,
                          std::span<const std::vector<std::string>> references) {
  return error_rate("word error rate", hypotheses, references, words_of);
}

ErrorRate character_error_rate(std::span<const std::string> hypotheses,
                               std::span<const std::vector<std::string>> references) {
  return error_rate("character error rate", hypotheses, references, [](std::string_view text) {
    const CodePoints points(text);
    return std::vector<std::string_view>(points.begin(), points.end());
  });
}

ErrorRate token_error_rate(std::span<const Ids> hypotheses, std::span<const std::vector<Ids>> references) {
  return error_rate("token error rate", hypotheses, references, [](const Ids& ids) { return std::span(ids); });
}

}  // namespace heed
