#include "heed/text/metric/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/metric/ngrams.h"
#include "heed/text/metric/unicode.h"

namespace heed::metric {

namespace {

/// p_1 ... p_n in percent. Orders without any n-gram: 0, and so are all after them.
struct Precisions {
  std::vector<double> percent;
  size_t orders = 0;  // that have n-grams
};

double value_of(const BleuOptions& options) {
  if (options.smoothing_value >= 0) return options.smoothing_value;
  return options.smoothing == Smoothing::floor ? 0.1 : 1.0;
}

Precisions precisions_of(std::span<const double> matches, std::span<const double> ngrams, const BleuOptions& options) {
  Precisions p{std::vector<double>(matches.size(), 0.0), 0};
  // Without a match there is nothing to smooth.
  if (std::all_of(matches.begin(), matches.end(), [](double count) { return count == 0; })) return p;
  const double value = value_of(options);
  double half = 1;
  for (size_t n = 0; n < matches.size(); ++n) {
    const double added = options.smoothing == Smoothing::add && n > 0 ? value : 0;
    const double all = ngrams[n] + added;
    double right = matches[n] + added;
    if (all == 0) break;
    p.orders = n + 1;
    if (right == 0 && options.smoothing == Smoothing::exp) right = half /= 2;
    if (right == 0 && options.smoothing == Smoothing::floor) right = value;
    p.percent[n] = 100 * right / all;
  }
  return p;
}

double brevity_of(double hypothesis, double reference) {
  if (hypothesis >= reference) return 1;
  return hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
}

double geometric_mean(std::span<const double> values) {
  double logs = 0;
  for (const double value : values) logs += value > 0 ? std::log(value) : -std::numeric_limits<double>::infinity();
  return values.empty() ? 0 : std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace

Bleu::Bleu(const BleuOptions& options) : options_(options) {
  expect(options.order > 0, "BLEU: order must be at least 1");
}

std::vector<double> Bleu::of_segment(const std::string& hypothesis, const Texts& references) const {
  const auto prepared = [&](const std::string& text) {
    return tokenised(options_.lowercase ? lowered(text) : text, options_.tokenise);
  };
  WordNumbers words;
  Ngrams ngrams(options_.order);
  const std::vector<int32_t> said = words.of(prepared(hypothesis));
  const NgramCounts counts = ngrams.count(said);

  const auto length = static_cast<int64_t>(said.size());
  int64_t nearest = -1;
  NgramCounts most(options_.order);  // of all references
  for (const std::string& reference : references) {
    const std::vector<int32_t> right = words.of(prepared(reference));
    const auto other = static_cast<int64_t>(right.size());
    const int64_t gap = std::abs(other - length), least = std::abs(nearest - length);
    if (nearest < 0 || gap < least || (gap == least && other < nearest)) nearest = other;
    const NgramCounts its = ngrams.count(right);
    for (size_t n = 0; n < most.size(); ++n) {
      if (most[n].size() < its[n].size()) most[n].resize(its[n].size());
      for (size_t i = 0; i < its[n].size(); ++i) most[n][i] = std::max(most[n][i], its[n][i]);
    }
  }

  std::vector<double> row = {static_cast<double>(length), static_cast<double>(nearest)};
  for (size_t n = 0; n < most.size(); ++n) row.push_back(static_cast<double>(matching(counts[n], most[n])));
  for (size_t n = 0; n < most.size(); ++n) row.push_back(static_cast<double>(sum(counts[n])));
  return row;
}

Score Bleu::score(std::span<const double> total) const { return computed(total, options_.effective_order); }

Score Bleu::segment_score(std::span<const double> statistics) const { return computed(statistics, true); }

Score Bleu::computed(std::span<const double> total, bool effective_order) const {
  const double hypothesis = total[0], reference = total[1];
  const auto matches = total.subspan(2, options_.order), ngrams = total.subspan(2 + options_.order, options_.order);
  const Precisions p = precisions_of(matches, ngrams, options_);
  const double brevity = brevity_of(hypothesis, reference);
  const double ratio = reference > 0 ? hypothesis / reference : 0;
  const std::span all(p.percent);
  const double mean = geometric_mean(effective_order ? all.first(p.orders) : all);

  Score score{.name = "BLEU", .value = brevity * mean, .higher_is_better = true, .details = {}, .parts = {}};
  score.details = fmt::format("{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {:.0f} ref_len = {:.0f})",
                              fmt::join(p.percent, "/"), brevity, ratio, hypothesis, reference);
  for (size_t n = 0; n < all.size(); ++n) score.parts.emplace_back(fmt::format("precision_{}", n + 1), all[n]);
  score.parts.insert(score.parts.end(), {{"brevity_penalty", brevity},
                                         {"length_ratio", ratio},
                                         {"hypothesis_length", hypothesis},
                                         {"reference_length", reference}});
  return score;
}

std::string Bleu::settings() const {
  std::string smoothing;
  switch (options_.smoothing) {
    case Smoothing::none:
      smoothing = "none";
      break;
    case Smoothing::exp:
      smoothing = "exp";
      break;
    case Smoothing::floor:
      smoothing = fmt::format("floor[{:.2f}]", value_of(options_));
      break;
    case Smoothing::add:
      smoothing = fmt::format("add-k[{:.2f}]", value_of(options_));
      break;
  }
  return fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", options_.lowercase ? "lc" : "mixed",
                     options_.effective_order ? "yes" : "no", name_of(options_.tokenise), smoothing);
}

}  // namespace heed::metric
