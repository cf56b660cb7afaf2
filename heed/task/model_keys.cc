#include "heed/task/model_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/choices.h"
#include "heed/base/nearest.h"
#include "heed/model/encode/attention_places.h"
#include "heed/task/all.h"
#include "heed/task/predict_options.h"
#include "heed/task/recipe_limits.h"

namespace heed::task {

using file::Fields;
using file::Limit;

namespace {

void add_model(Fields& f, model::Options& m, const Task& task) {
  f.section("model", "The network, from tokens to logits.");
  f.add("model.task", m.task, "the kind of task", Limit::one_of(task::all()));
  task.add_model(f, m);
}

/// Options that follow from the model, or that belong to other tasks.
bool is_inside(std::string_view option) {
  for (const char* name :
       {"input", "query_width", "key_width", "value_width", "output_width", "classes", "predict", "queries"})
    if (option == name) return true;
  return false;
}

/// What a value of an option may be.
Limit limit_of(std::string_view option) {
  for (const attend::Part part :
       {attend::Part::structure, attend::Part::score, attend::Part::normalise, attend::Part::time})
    if (option == attend::name_of(part)) return Limit::one_of(attend::words_for(part));
  const std::pair<const char*, Limit> limits[] = {
      {"heads", Limit::between(1, kMostHeads)},
      {"kv_heads", Limit::between(0, kMostHeads)},
      {"width", Limit::between(0, kMostWidth)},
      {"hidden", Limit::between(0, kMostWidth)},
      {"depth", Limit::between(1, 1000)},
      {"queries", Limit::between(1, kMostHeads)},
      {"max_length", Limit::between(1, kLongest)},
      {"reach", Limit::between(1, kLongest)},
      {"rotary_base", Limit{.least = Limit::Bound{1, false}, .most = Limit::Bound{1e12}}},
      {"samples", Limit::between(1, 1000)},
      {"filters", Limit::between(1, 1000)},
      {"filter_reach", Limit::between(0, 1000)},
      {"window", Limit::between(0, kMostTokens)},
      {"sinks", Limit::between(0, kMostTokens)},
      {"dropout", Limit::from_to_below(0, 1)},
      {"baseline_decay", Limit::from_to_below(0, 1)},
      {"entropy_weight", Limit::at_least(0)},
      {"entropy_steps", Limit::between(0, kMostUpdates)},
      {"guide_steps", Limit::between(0, kMostUpdates)},
      {"guide_weight", Limit::at_least(0)},
      {"baseline", Limit::one_of(words_of(attend::kBaselines))},
      {"entropy_schedule", Limit::one_of(words_of(attend::kDecays))},
      {"guide_schedule", Limit::one_of(words_of(attend::kDecays))}};
  for (const auto& [name, limit] : limits)
    if (option == name) return limit;
  return {};
}

/// Where nothing is said about them, each attention has what it needs.
bool is_as_needed(std::string_view option) { return option == "project" || option == "project_output"; }

/// The options that a recipe of this task may name.
std::vector<std::string> options_for(const Task& task) {
  const std::vector<std::string> own = task.own_attention_keys();
  std::vector<std::string> names;
  const attend::Options any;
  attend::each_option(any, [&](const char* name, const auto&) {
    if (!is_inside(name) || std::find(own.begin(), own.end(), name) != own.end()) names.emplace_back(name);
  });
  return names;
}

void add_option(Fields& f, const std::string& key, encode::AttentionChange& change, std::string_view option) {
  attend::each_option(change.to, [&](std::string_view name, auto& value, const char* meaning) {
    if (name == option) f.add_on_demand(key, value, meaning, limit_of(name));
  });
  change.keys.emplace(option);
}

/// "encoder.layer.0" is layer 0 of the encoder. Empty: what is wrong with it.
std::string problem_of_place(std::string_view place, const Task& task) {
  const std::vector<std::string> places = task.attention_places();
  const size_t dot = place.find('.');
  const std::string name(place.substr(0, dot));
  if (std::find(places.begin(), places.end(), name) == places.end())
    return fmt::format("model.task = \"{}\" has no attention called '{}'; it may have {}", task.name, name,
                       fmt::join(places, ", "));
  if (dot == std::string_view::npos) return "";
  constexpr std::string_view kLayer = "layer.";
  const std::string_view rest = place.substr(dot + 1);
  const std::string_view digits = rest.starts_with(kLayer) ? rest.substr(kLayer.size()) : std::string_view();
  const bool is_number = !digits.empty() && digits.size() <= 4 &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos &&
                         (digits == "0" || digits.front() != '0');
  return is_number ? "" : fmt::format("a layer of '{}' is called {}.layer.N, with N from 0", name, name);
}

/// attention.PLACE.OPTION, once it is named.
std::optional<std::string> declare(Fields& f, encode::AttentionChanges& places, const Task& task,
                                   const std::string& key) {
  const std::string inside = key.substr(key.find('.') + 1);
  const size_t dot = inside.rfind('.');
  const std::string option = inside.substr(dot == std::string::npos ? 0 : dot + 1);
  const std::vector<std::string> options = options_for(task);
  const bool known = std::find(options.begin(), options.end(), option) != options.end();
  if (dot == std::string::npos || inside.substr(0, dot) == encode::kAllPlaces) {
    if (!is_as_needed(option)) return {};
    add_option(f, key, places[encode::kAllPlaces], option);
    return "";
  }
  const std::string place = inside.substr(0, dot);
  if (std::string wrong = problem_of_place(place, task); !wrong.empty()) return fmt::format("'{}': {}", key, wrong);
  if (!known) {
    const std::string guess = nearest(option, options);
    return fmt::format("unknown key '{}'{}", key,
                       guess.empty() ? "" : fmt::format("; did you mean 'attention.{}.{}'?", place, guess));
  }
  add_option(f, key, places[place], option);
  return "";
}

void add_attention(Fields& f, model::Options& m, const Task& task) {
  f.section("attention",
            "Between decoder and encoder, and in the heads of a Transformer; see `heed mechanisms`. Sections such as "
            "[attention.source] and [attention.encoder.layer.0] change it at one place; project and project_output are "
            "as each place needs them where nothing is said.");
  const std::vector<std::string> options = options_for(task);
  attend::each_option(m.attention, [&](const char* name, auto& value, const char* meaning) {
    if (!is_as_needed(name) && std::find(options.begin(), options.end(), name) != options.end())
      f.add(std::string("attention.") + name, value, meaning, limit_of(name));
  });
  // A program may have set these two directly.
  for (const auto& [name, member] :
       {std::pair{"project", &attend::Options::project}, {"project_output", &attend::Options::project_output}})
    if (m.attention.*member && !m.places[encode::kAllPlaces].keys.contains(name)) {
      m.places[encode::kAllPlaces].to.*member = true;
      m.places[encode::kAllPlaces].keys.emplace(name);
    }
  for (auto& [place, change] : m.places)
    for (const std::string& option : std::set<std::string>(change.keys))
      add_option(f, fmt::format("attention.{}.{}", place, option), change, option);
  f.on_demand("attention",
              [&m, &task](Fields& fields, const std::string& key) { return declare(fields, m.places, task, key); });
}

}  // namespace

void add_model_sections(Fields& fields, model::Options& model, const Task& task) {
  add_model(fields, model, task);
  add_attention(fields, model, task);
}

}  // namespace heed::task
