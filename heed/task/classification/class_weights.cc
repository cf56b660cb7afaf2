#include "heed/task/classification/class_weights.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <string>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/text/label_set.h"
#include "heed/text/tokens.h"

namespace heed::task {

namespace {

constexpr std::string_view kNone = "none", kBalanced = "balanced";
constexpr double kMostWeight = 1e6;

struct NamedWeight {
  std::string_view label;
  float weight = 0;
};

/// "spam=5"
NamedWeight named_weight(std::string_view text) {
  const size_t equals = text.rfind('=');
  NamedWeight named;
  double weight = -1;
  if (equals != std::string_view::npos) {
    named.label = text::without_blanks_around(text.substr(0, equals));
    const std::string_view number = text::without_blanks_around(text.substr(equals + 1));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
    if (error != std::errc() || end != number.data() + number.size()) weight = -1;
  }
  expect(weight >= 0 && weight <= kMostWeight && !named.label.empty(), ErrorKind::recipe,
         "data.class_weights: '{}' is no weight of a label; it is none, balanced, or LABEL=WEIGHT with commas between "
         "them, such as spam=5,ham=1, with weights from 0 to {:.0f}",
         text, kMostWeight);
  named.weight = static_cast<float>(weight);
  return named;
}

}  // namespace

std::string class_weights_problem(std::string_view how) {
  if (how == kNone || how == kBalanced) return "";
  try {
    if (text::labels_of(how, ",").empty()) named_weight(how);
    for (const std::string_view each : text::labels_of(how, ",")) named_weight(each);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<float> class_weights(std::string_view how, std::span<const int64_t> counts, const text::Tokeniser& labels) {
  std::vector<float> weights(counts.size(), 1.0f);
  if (how == kNone) return weights;
  if (how == kBalanced) {
    const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) weights[i] = static_cast<float>(all) / static_cast<float>(std::ssize(counts) * counts[i]);
    return weights;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < counts.size(); ++i) names.push_back(labels.token(static_cast<int32_t>(i) + text::kSpecials));
  for (const std::string_view each : text::labels_of(how, ",")) {
    const NamedWeight named = named_weight(each);
    const auto found = std::find(names.begin(), names.end(), named.label);
    expect(found != names.end(), ErrorKind::recipe,
           "data.class_weights: the data has no label '{}'; did you mean '{}'?", named.label,
           nearest(named.label, names));
    weights[static_cast<size_t>(found - names.begin())] = named.weight;
  }
  return weights;
}

}  // namespace heed::task
