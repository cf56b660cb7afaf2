#include "heed/text/metric/chrf.h"

#include <string_view>

#include "heed/base/error.h"
#include "heed/text/metric/ngrams.h"
#include "heed/text/metric/unicode.h"

namespace heed::metric {

namespace {

bool is_ascii_mark(char32_t c) {
  return (c > U' ' && c < U'0') || (c > U'9' && c < U'A') || (c > U'Z' && c < U'a') || (c > U'z' && c <= U'~');
}

/// One punctuation mark at the end of a word is a separate word; if there is none, one at its start: "(so)" -> "(so",
/// ")".
std::vector<std::u32string> words_and_marks(std::u32string_view text) {
  std::vector<std::u32string> words;
  for (std::u32string& word : split(text)) {
    size_t cut = 0;
    if (word.size() > 1 && is_ascii_mark(word.back()))
      cut = word.size() - 1;
    else if (word.size() > 1 && is_ascii_mark(word.front()))
      cut = 1;
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

/// The n-grams of the texts of one segment.
class Counter {
 public:
  explicit Counter(const ChrfOptions& options)
      : options_(options), characters_(options.characters), words_(options.words) {}

  NgramCounts count(const std::string& given) {
    const std::u32string text = code_points(options_.lowercase ? lowered(given) : given);
    std::u32string characters;
    for (const char32_t c : text)
      if (options_.whitespace || !is_space(c)) characters.push_back(c);
    NgramCounts counts = characters_.count(characters);
    if (options_.words > 0)
      for (auto& of_order : words_.count(numbers_.of(words_and_marks(text)))) counts.push_back(std::move(of_order));
    return counts;
  }

 private:
  const ChrfOptions& options_;
  Ngrams characters_, words_;
  WordNumbers numbers_;
};

struct Means {
  double precision = 0, recall = 0, f = 0;
};

double f_score(double precision, double recall, double beta) {
  const double sum = beta * beta * precision + recall;
  return sum > 0 ? (1 + beta * beta) * precision * recall / sum : 0;
}

Means means_of(std::span<const double> total, const ChrfOptions& options) {
  constexpr double kEpsilon = 1e-16;
  const auto beta = static_cast<double>(options.beta);
  Means mean;
  double all_f = 0, orders = 0;
  for (size_t i = 0; i < total.size(); i += 3) {
    const double said = total[i], right = total[i + 1], both = total[i + 2];
    const double precision = said > 0 ? both / said : kEpsilon, recall = right > 0 ? both / right : kEpsilon;
    all_f += precision + recall > 0 ? f_score(precision, recall, beta) : kEpsilon;
    if (said == 0 || right == 0) continue;
    mean.precision += precision;
    mean.recall += recall;
    ++orders;
  }
  if (orders > 0) mean.precision /= orders, mean.recall /= orders;
  const size_t all_orders = total.size() / 3;
  mean.f = options.eps_smoothing ? all_f / static_cast<double>(all_orders) : f_score(mean.precision, mean.recall, beta);
  return mean;
}

}  // namespace

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  expect(options.characters + options.words > 0, "chrF: there must be n-grams of characters or words");
}

std::vector<double> Chrf::of_segment(const std::string& hypothesis, const Texts& references) const {
  Counter counter(options_);
  const NgramCounts said = counter.count(hypothesis);
  std::vector<double> best;
  double highest = -1;
  for (const std::string& reference : references) {
    const NgramCounts right = counter.count(reference);
    std::vector<double> row;
    for (size_t n = 0; n < said.size(); ++n) {
      // Where the reference is too short for an n-gram, nothing could have matched: those of the hypothesis do not
      // count.
      const bool possible = !right[n].empty();
      row.push_back(possible ? static_cast<double>(sum(said[n])) : 0.0);
      row.push_back(static_cast<double>(sum(right[n])));
      row.push_back(static_cast<double>(matching(said[n], right[n])));
    }
    const double f = means_of(row, options_).f;
    if (f <= highest) continue;
    highest = f;
    best = row;
  }
  return best;
}

Score Chrf::score(std::span<const double> total) const {
  const Means mean = means_of(total, options_);
  return {.name = fmt::format("chrF{}{}", options_.beta, std::string(options_.words, '+')),
          .value = 100 * mean.f,
          .higher_is_better = true,
          .details = {},
          .parts = {{"precision", 100 * mean.precision}, {"recall", 100 * mean.recall}}};
}

std::string Chrf::settings() const {
  return fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}", options_.lowercase ? "lc" : "mixed",
                     options_.eps_smoothing ? "no" : "yes", options_.characters, options_.words,
                     options_.whitespace ? "yes" : "no");
}

}  // namespace heed::metric
