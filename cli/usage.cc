#include "cli/usage.h"

#include <fmt/format.h>

namespace heed::cli {

namespace {

/// The widths that a small model needs, each by `write(name, value)`.
template <class Write>
std::string widths_of(const Facts& facts, const Write& write) {
  std::string text;
  for (const Setting& s : facts.sample)
    if (s.name == "query_width" || s.name == "key_width") text += write(s, text.empty());
  return text;
}

}  // namespace

std::string cpp_usage(const Facts& facts) {
  const std::string widths = widths_of(facts, [](const Setting& s, bool first) {
    return fmt::format("{}.{} = {}", first ? "" : ", ", s.name, s.value);
  });
  return fmt::format(
      "heed::Parameters parameters;\n"
      "auto options = heed::attend::options_of(\"{}\", {{{}}});\n"
      "auto attention = heed::attend::make(parameters, options);\n",
      facts.entry->name, widths);
}

std::string python_usage(const Facts& facts) {
  const std::string widths =
      widths_of(facts, [](const Setting& s, bool) { return fmt::format(", {}={}", s.name, s.value); });
  return fmt::format("attention = heed.Attention(\"{}\"{})\n", facts.entry->name, widths);
}

}  // namespace heed::cli
