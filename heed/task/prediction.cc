#include "heed/task/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/kernels/exact_math.h"

namespace heed::task {

std::vector<Link> Output::links() const {
  std::vector<Link> links;
  for (size_t t = 0; t < alignment.size(); ++t) {
    const std::vector<float>& row = alignment[t];
    if (row.empty()) continue;
    links.push_back({std::max_element(row.begin(), row.end()) - row.begin(), static_cast<int64_t>(t)});
  }
  return links;
}

double Output::token_probability(size_t token) const {
  return exact::exp(static_cast<double>(token_log_probabilities[token]));
}

std::string missing_text(const Output& output) {
  if (output.missing.empty()) return "";
  std::string phrases;
  for (const std::string& phrase : output.missing) phrases += (phrases.empty() ? "'" : ", '") + phrase + "'";
  return fmt::format("{} had to come, but {}", phrases, output.missing_because);
}

std::string pharaoh(const Output& output) {
  std::string text;
  for (const Link& link : output.links())
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

const std::string& Prediction::text() const {
  static const std::string nothing;
  return nbest.empty() ? nothing : nbest.front().text;
}

}  // namespace heed::task
