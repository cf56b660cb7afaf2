#include "heed/train/without_effect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "heed/attend/all.h"
#include "heed/attend/settings.h"
#include "heed/model/encode/attention_places.h"

namespace heed::train {

namespace {

using attend::Made;
using attend::Options;

std::map<std::string, std::string> option_values(const Options& options) {
  std::map<std::string, std::string> all;
  for (const attend::Setting& s : attend::values_of(options)) all.emplace(s.name, s.value);
  return all;
}

/// Regions that leave some keys out.
std::vector<const attend::Entry*> limits_in(const Options& options) {
  std::vector<const attend::Entry*> all;
  for (const attend::Entry* region : attend::resolve(options).regions)
    if (!region->limits_nothing) all.push_back(region);
  return all;
}

/// Sinks are keys that something else would hide.
bool hides_keys(const Options& options) {
  const auto limits = limits_in(options);
  return std::any_of(limits.begin(), limits.end(), [](const attend::Entry* region) {
    return region != &attend::causal_entry && region != &attend::sinks_entry;
  });
}

bool has_regions_of(const Options& made, const Options& asked) {
  if (limits_in(asked).empty()) return asked.region == attend::global_entry.name;
  const auto there = limits_in(made);
  for (const attend::Entry* region : limits_in(asked)) {
    if (std::find(there.begin(), there.end(), region) == there.end()) return false;
    if (region == &attend::sinks_entry && !made.learned_sink && !hides_keys(made)) return false;
  }
  return true;
}

/// Only the loss of a decoder has the cost of straying, and rewards choices.
bool has_no_loss(const Made& made) { return !made.place.empty() && made.place != encode::kSourcePlace; }
constexpr std::string_view kOfTheLoss[] = {"baseline",         "baseline_decay", "entropy_weight",
                                           "entropy_schedule", "entropy_steps",  "guide_sigma",
                                           "guide_weight",     "guide_schedule", "guide_steps"};
bool is_of_the_loss(const std::string& option) {
  return std::find(std::begin(kOfTheLoss), std::end(kOfTheLoss), option) != std::end(kOfTheLoss);
}

/// Whether one attention does what was asked for by this option, and reads it.
bool does(const Made& attention, const Options& asked, const std::string& option) {
  const Options& made = attention.options;
  const attend::Parts parts = attend::resolve(made);
  if (has_no_loss(attention) && is_of_the_loss(option)) return false;
  // One query has one step.
  if (option == "time" && ((has_no_loss(attention) && parts.time->guides) || parts.input->own_queries)) return false;
  // It has its own of everything.
  if (option == "dropout" && parts.structure == &attend::key_value_entry) return false;
  if (option == "region") return has_regions_of(made, asked);
  if (option == "score" && parts.structure->own_score) return false;
  if (option == "sinks" && !hides_keys(made)) return false;
  // One head is one attention.
  if (option == "structure" && made.heads == 1 && parts.structure->has_heads &&
      attend::resolve(asked).structure == &attend::single_entry)
    return true;
  return option_values(made).at(option) == option_values(asked).at(option) && attend::unread(made, {option}).empty();
}

/// Why none of `made` does it.
std::string reason(const std::vector<Made>& made, const Options& asked, const std::string& option) {
  const std::string value = option_values(asked).at(option);
  if (made.empty()) return fmt::format("{} = {} has no effect: this model has no attention", option, value);
  if (option == "region") {
    if (limits_in(asked).empty())
      return fmt::format("region = {} has no effect: a recipe gives no mask, and every region respects the lengths",
                         value);
    for (const Made& each : made)
      if (attend::resolve(each.options).has_region(attend::sinks_entry))
        return fmt::format(
            "region = {}: sinks are first keys that a window does not hide, and there is no window: use "
            "\"sliding_window+sinks\"",
            value);
  }
  if (is_of_the_loss(option) || option == "time")
    for (const Made& each : made)
      if (option_values(each.options).at(option) == value && attend::unread(each.options, {option}).empty())
        return fmt::format(
            "{} = {} has no effect: it is about the steps of a decoder and what its loss adds for its "
            "attention to the source",
            option, value);
  if (option == "dropout")
    for (const Made& each : made)
      if (attend::resolve(each.options).structure == &attend::key_value_entry)
        return "dropout has no effect: structure = \"key_value\" has none on its weights";
  if (option == "sinks" && attend::resolve(asked).has_region(attend::sinks_entry))
    return fmt::format(
        "sinks = {} has no effect: sinks are first keys that a window does not hide, and there is no "
        "window: use region = \"sliding_window+sinks\"",
        value);
  if (option == "score")
    for (const Made& each : made)
      if (attend::resolve(each.options).structure->own_score)
        return fmt::format("score = {} has no effect: structure = \"{}\" has its own score", value,
                           each.options.structure);
  for (const Made& each : made)
    if (option_values(each.options).at(option) == value)
      if (const auto why = attend::unread(each.options, {option}); !why.empty()) return why.front();
  std::vector<std::string> others;
  for (const Made& each : made) {
    std::string other = option_values(each.options).at(option);
    if (std::find(others.begin(), others.end(), other) == others.end()) others.push_back(std::move(other));
  }
  return fmt::format("{} = {} has no effect in this model, where it is {}{}", option, value, fmt::join(others, " and "),
                     option == "width" ? ": model.head_width says how wide a head of a Transformer is" : "");
}

/// Those that a section is about.
std::vector<Made> of_section(const std::vector<Made>& made, const std::string& place) {
  std::vector<Made> found;
  for (const Made& each : made)
    if (place == encode::kAllPlaces || place == each.place || place == encode::layer_of(each.place, each.layer))
      found.push_back(each);
  return found;
}

std::string no_such_place(const std::vector<Made>& made, const std::string& place) {
  std::vector<std::string> there;
  for (const Made& each : made)
    for (const std::string& name : {each.place, encode::layer_of(each.place, each.layer)})
      if (!each.place.empty() && std::find(there.begin(), there.end(), name) == there.end()) there.push_back(name);
  return fmt::format("this model has no attention at '{}'; {}", place,
                     there.empty() ? "it has none" : fmt::format("there are {}", fmt::join(there, ", ")));
}

}  // namespace

std::vector<WithoutEffect> without_effect(const recipe::Recipe& recipe, const std::vector<Made>& made) {
  std::vector<WithoutEffect> idle;
  const auto ask = [&](const std::vector<Made>& about, const Options& asked, const std::string& option,
                       const std::string& section, const std::string& place) {
    for (const Made& each : about)
      if (does(each, asked, option)) return;
    idle.push_back(
        {fmt::format("attention.{}{}", place, option), fmt::format("{}: {}", section, reason(about, asked, option))});
  };
  const Options base = attend::canonical(recipe.model.attention);
  const auto defaults = option_values(Options());
  for (const auto& [option, value] : option_values(base)) {
    const bool given = !recipe::is_open(recipe, "attention." + option);
    if (given && value != defaults.at(option)) ask(made, base, option, "attention", "");
  }
  for (const auto& [place, change] : recipe.model.places) {
    const std::vector<Made> about = of_section(made, place);
    const std::string section = place == encode::kAllPlaces ? "attention" : "attention." + place;
    if (about.empty() && place != encode::kAllPlaces) {
      for (const std::string& option : change.keys)
        idle.push_back(
            {fmt::format("{}.{}", section, option), fmt::format("{}: {}", section, no_such_place(made, place))});
      continue;
    }
    const Options asked = attend::canonical(change.to);
    for (const std::string& option : change.keys) ask(about, asked, option, section, place + ".");
  }
  return idle;
}

std::string description_of(const Options& options) {
  const auto defaults = option_values(Options());
  const attend::Parts parts = attend::resolve(options);
  std::string text = parts.structure->own_score ? fmt::format("structure = \"{}\"", options.structure)
                                                : fmt::format("score = \"{}\"", options.score);
  for (const auto& [option, value] : option_values(options)) {
    if (option == "score" || option == "structure" || option == "input" || option.ends_with("_width")) continue;
    if (option == "width" && !options.project) continue;
    const bool said = option == "normalise" || option == "region";
    if ((said || value != defaults.at(option)) && attend::unread(options, {option}).empty())
      text += fmt::format(", {} = {}", option, value);
  }
  return text;
}

}  // namespace heed::train
