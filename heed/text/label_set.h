// The labels of a text, as they are written: one, or several with something between them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/words.h"

namespace heed::text {

/// Parts of `text`, without the blanks around them, each once and in order: a set has no other order. Without
/// `between`, the whole text is one label. Empty ones are none.
inline std::vector<std::string_view> labels_of(std::string_view text, std::string_view between) {
  std::vector<std::string_view> labels;
  for (bool more = true; more;) {
    const size_t end = between.empty() ? text.npos : text.find(between);
    more = end != text.npos;
    const std::string_view label = without_blanks_around(text.substr(0, end));
    if (!label.empty()) labels.push_back(label);
    if (more) text.remove_prefix(end + between.size());
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// The other way round: "sport,weather".
inline std::string joined_labels(const std::vector<std::string_view>& labels, std::string_view between) {
  std::string text;
  for (const std::string_view label : labels) {
    if (!text.empty()) text += between;
    text += label;
  }
  return text;
}

}  // namespace heed::text
