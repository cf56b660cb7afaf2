#include "cli/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "cli/recipe_snippet.h"
#include "heed/base/error.h"

namespace heed::cli {

namespace {

using attend::Options;
using attend::value_text;
using attend::values_of;

template <class T>
std::string type_text(const T&) {
  if constexpr (std::is_same_v<T, std::string>) return "string";
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_same_v<T, int64_t>) return "integer";
  return "number";
}

std::vector<ParameterFact> parameters_of(const Options& options) {
  Parameters parameters;
  attend::make(parameters, options);
  std::vector<ParameterFact> facts;
  for (const Parameter& p : parameters) facts.push_back({p.name, p.shape, p.trainable});
  return facts;
}

bool same_shapes(const std::vector<ParameterFact>& a, const std::vector<ParameterFact>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ParameterFact& x, const ParameterFact& y) { return x.shape == y.shape; });
}

/// Small widths, and every learned part. Query and key have different widths if that is allowed and changes a shape, so
/// that the shapes tell them apart.
Options sample_options(const attend::Entry& entry) {
  Options o;
  o.key_width = 8;
  o.hidden = 6;
  o.max_length = 10;
  const std::vector<std::string> reads = attend::words(entry.options);
  attend::each_option(o, [&](const std::string& name, auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, bool>)
      if (name.rfind("learned_", 0) == 0 && std::find(reads.begin(), reads.end(), name) != reads.end()) field = true;
  });
  o = attend::options_of(entry.name, o);
  Options wider = o;
  wider.query_width = 12;
  const bool differs = attend::refusals(wider).empty() && !same_shapes(parameters_of(o), parameters_of(wider));
  return differs ? wider : o;
}

std::vector<Setting> sample_settings(const attend::Entry& entry, const Options& sample) {
  const std::vector<Setting> defaults = values_of({}), values = values_of(sample);
  std::vector<std::string> told = attend::words(entry.options);
  told.emplace_back("key_width");
  told.emplace_back("query_width");
  std::vector<Setting> settings;
  for (size_t n = 0; n < values.size(); ++n)
    if (values[n].value != defaults[n].value && std::find(told.begin(), told.end(), values[n].name) != told.end())
      settings.push_back(values[n]);
  return settings;
}

}  // namespace

std::vector<OptionFact> all_options() {
  std::vector<OptionFact> all;
  const Options defaults;
  attend::each_option(defaults, [&](const char* name, const auto& field, const char* meaning) {
    all.push_back({name, type_text(field), value_text(field), "", meaning});
  });
  return all;
}

Facts facts_of(const attend::Entry& entry) {
  Facts facts;
  facts.entry = &entry;
  facts.aliases = attend::words(entry.aliases);
  facts.settings = attend::settings_of(entry);
  facts.recipe = recipe_snippet(entry, facts.settings);

  const std::vector<std::string> reads = attend::words(entry.options);
  for (OptionFact& option : all_options()) {
    if (std::find(reads.begin(), reads.end(), option.name) == reads.end()) continue;
    for (const Setting& setting : facts.settings)
      if (setting.name == option.name && setting.value != option.value)
        option.by_name = setting.as.empty() ? setting.value : value_text(setting.as);
    facts.options.push_back(std::move(option));
  }
  expect(facts.options.size() == reads.size(), ErrorKind::bug,
         "{} says that it reads an option that does not exist: {}", entry.name, entry.options);

  const Options sample = sample_options(entry);
  facts.sample = sample_settings(entry, sample);
  facts.parameters = parameters_of(sample);
  return facts;
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

const char* heading_of(attend::Part part) {
  switch (part) {
    case attend::Part::score:
      return "Scores: how well a query and a key match";
    case attend::Part::normalise:
      return "Weights from scores";
    case attend::Part::region:
      return "Regions: which keys a query may see";
    case attend::Part::time:
      return "Time: how attention moves from step to step";
    case attend::Part::input:
      return "Input: where queries, keys and values come from";
    case attend::Part::structure:
      return "Structures: how attentions are put together";
  }
  return "";
}

}  // namespace heed::cli
