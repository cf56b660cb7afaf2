#include "heed/text/metric/error_rate.h"

#include <string_view>

#include "heed/base/error.h"
#include "heed/text/metric/check.h"
#include "heed/text/metric/unicode.h"
#include "heed/text/utf8.h"

namespace heed::metric {

namespace {

std::vector<std::string_view> characters_of(std::string_view text) {
  const text::CodePoints points(text);
  return {points.begin(), points.end()};
}

/// `tokens` cuts what is compared into tokens.
template <class Hypothesis, class Tokens>
ErrorRate of_best(const Hypothesis& hypothesis, const std::vector<Hypothesis>& references, Tokens tokens) {
  const auto said = tokens(hypothesis);
  ErrorRate best{{}, -1};
  for (const auto& reference : references) {
    const auto wanted = tokens(reference);
    const Edits edits = edit_distance(wanted, said);
    if (best.tokens >= 0 && edits.total() >= best.edits.total()) continue;
    best = {edits, static_cast<int64_t>(wanted.size())};
  }
  return best;
}

template <class Hypothesis, class Tokens>
ErrorRate of_all(std::span<const Hypothesis> hypotheses, std::span<const std::vector<Hypothesis>> references,
                 Tokens tokens) {
  expect_references(hypotheses, references);
  ErrorRate sum;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const ErrorRate one = of_best(hypotheses[i], references[i], tokens);
    sum.edits += one.edits;
    sum.tokens += one.tokens;
  }
  return sum;
}

}  // namespace

double ErrorRate::rate() const {
  if (tokens == 0) return edits.total() == 0 ? 0.0 : 1.0;
  return static_cast<double>(edits.total()) / static_cast<double>(tokens);
}

ErrorRate token_error_rate(std::span<const Ids> hypotheses, std::span<const std::vector<Ids>> references) {
  return of_all(hypotheses, references, [](const Ids& ids) { return std::span(ids); });
}

ErrorRate token_error_rate(std::span<const std::string> hypotheses, std::span<const Texts> references) {
  return of_all(hypotheses, references, split_utf8);
}

ErrorRate character_error_rate(std::span<const std::string> hypotheses, std::span<const Texts> references) {
  return of_all(hypotheses, references, characters_of);
}

std::vector<double> ErrorRateMetric::of_segment(const std::string& hypothesis, const Texts& references) const {
  const ErrorRate one = unit_ == ErrorUnit::character ? of_best(hypothesis, references, characters_of)
                                                      : of_best(hypothesis, references, split_utf8);
  return {static_cast<double>(one.edits.substitutions), static_cast<double>(one.edits.insertions),
          static_cast<double>(one.edits.deletions), static_cast<double>(one.tokens)};
}

Score ErrorRateMetric::score(std::span<const double> total) const {
  const double edits = total[0] + total[1] + total[2], tokens = total[3];
  const double rate = tokens > 0 ? edits / tokens : edits > 0 ? 1.0 : 0.0;
  struct Words {
    const char *name, *tokens;
  };
  constexpr Words kWords[] = {{"WER", "words"}, {"PER", "phones"}, {"CER", "characters"}};
  const Words& words = kWords[static_cast<size_t>(unit_)];
  return {.name = words.name,
          .value = 100 * rate,
          .higher_is_better = false,
          .details = fmt::format("({:.0f} substitutions, {:.0f} insertions, {:.0f} deletions in {:.0f} {})", total[0],
                                 total[1], total[2], tokens, words.tokens),
          .parts = {{"substitutions", total[0]},
                    {"insertions", total[1]},
                    {"deletions", total[2]},
                    {"reference_length", tokens}}};
}

}  // namespace heed::metric
