#include "heed/task/search_outputs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/task/line_tokens.h"

namespace heed::task {

namespace {

/// For each unknown token of the output, the source token with the most attention; empty if that is not known.
std::vector<std::string> copies_for(const search::Hypothesis& h, std::span<const std::string> source) {
  std::vector<std::string> copies;
  for (size_t t = 0; t < h.tokens.size(); ++t) {
    if (h.tokens[t] != text::kUnknown) continue;
    copies.emplace_back();
    if (t >= h.alignment.size() || h.alignment[t].empty()) continue;
    const std::vector<float>& row = h.alignment[t];
    const auto most = static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (most < source.size()) copies.back() = source[most];
  }
  return copies;
}

}  // namespace

Output output_of(search::Hypothesis&& h, const text::Tokeniser& target, const RulesOfLine& rules,
                 std::span<const std::string> source) {
  h.alignment.resize(std::min(h.alignment.size(), h.tokens.size()));  // without that of the end token
  Output output{.text = target.decode(h.tokens, copies_for(h, source)),
                .score = h.score,
                .log_probability = h.log_probability,
                .finished = h.finished,
                .tokens = spelled(target, h.tokens),
                .ids = h.tokens,
                .token_log_probabilities = std::move(h.token_log_probabilities),
                .alignment = std::move(h.alignment)};
  rules.tell_missing(h, output);
  return output;
}

}  // namespace heed::task
