#include "heed/task/speech/word_times.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "heed/text/words.h"

namespace heed::task {

namespace {

/// To the millisecond: a row of the alignment is much longer.
double rounded(double seconds) { return std::round(1000.0 * seconds) / 1000.0; }

}  // namespace

std::vector<WordTime> word_times(const Output& output, double row_seconds, const text::Tokeniser& target) {
  constexpr double kEdge = 0.1;
  std::vector<WordTime> all;
  if (output.alignment.empty() || row_seconds <= 0) return all;
  // Whatever the tokens are (words, letters, pieces): a token belongs to the last word that it completes or goes on
  // with.
  std::vector<std::vector<double>> seen;  // [words][rows]
  for (size_t t = 0; t < output.alignment.size() && t < output.ids.size(); ++t) {
    const size_t words = text::words_of(target.decode(std::span(output.ids).first(t + 1), {})).size();
    if (words == 0) continue;
    const size_t first = std::min(seen.size(), words - 1);  // a label may be a token of several words
    seen.resize(words, std::vector<double>(output.alignment[t].size(), 0.0));
    for (size_t word = first; word < words; ++word)
      for (size_t row = 0; row < output.alignment[t].size(); ++row)
        seen[word][row] += static_cast<double>(output.alignment[t][row]);
  }
  const std::vector<std::string_view> words = text::words_of(output.text);
  for (size_t w = 0; w < seen.size() && w < words.size(); ++w) {
    double sum = 0, so_far = 0;
    for (const double weight : seen[w]) sum += weight;
    size_t first = 0, last = 0;
    for (size_t row = 0; row < seen[w].size(); ++row) {
      if (so_far < kEdge * sum) first = row;
      if (so_far < (1 - kEdge) * sum) last = row;
      so_far += seen[w][row];
    }
    all.push_back({.word = std::string(words[w]),
                   .start = rounded(static_cast<double>(first) * row_seconds),
                   .end = rounded(static_cast<double>(last + 1) * row_seconds)});
  }
  return all;
}

}  // namespace heed::task
