#include "heed/compare/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/settings.h"
#include "heed/base/error.h"
#include "heed/compare/probe.h"
#include "heed/train/training_setup.h"
#include "heed/train/without_effect.h"

namespace heed::compare {

namespace {

using recipe::Recipe;
using Settings = std::vector<std::string>;  // each "section.name=value"

const std::string kAttention = "attention.";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string key_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

// ---------------------------------------------------------------------------------------------- what a variant sets

/// One value of one axis: what it is called, and the settings it stands for, in the order in which they are tried.
struct Choice {
  std::string name;
  std::vector<Settings> ways;
};

/// The settings of several parts together. Several regions are joined.
Settings joined(const std::vector<const attend::Entry*>& parts, bool name_alone) {
  std::map<std::string, std::string> values;
  for (const attend::Entry* entry : parts) {
    std::vector<attend::Setting> settings = attend::settings_of(*entry);
    if (name_alone) settings = {{attend::name_of(entry->part), attend::value_text(std::string(entry->name)), ""}};
    for (const attend::Setting& s : settings) {
      std::string& value = values[kAttention + s.name];
      const bool again = !value.empty() && s.name == attend::name_of(attend::Part::region) && value != s.value;
      value = again ? value.substr(0, value.size() - 1) + "+" + s.value.substr(1) : s.value;
    }
  }
  Settings all;
  for (const auto& [key, value] : values) all.push_back(fmt::format("{}={}", key, value));
  return all;
}

/// Throws, with the nearest name, if a part does not exist.
Choice attention_choice(const std::string& name) {
  std::vector<const attend::Entry*> parts;
  for (const std::string& part : split(name, '+')) parts.push_back(&attend::find(part));
  // The model may set the other options of a name itself.
  return {name, {joined(parts, false), joined(parts, true)}};
}

/// Every mechanism whose part a recipe of this task can choose.
std::vector<std::string> catalogue(const Recipe& recipe) {
  const auto keys = recipe::values_of(recipe);
  std::vector<std::string> names;
  for (const attend::Entry* entry : attend::all())
    if (keys.count(kAttention + attend::name_of(entry->part)) > 0) names.emplace_back(entry->name);
  return names;
}

std::vector<Choice> key_choices(const std::string& over) {
  const size_t equals = over.find('=');
  expect(equals != std::string::npos && equals > 0 && equals + 1 < over.size(),
         "compare: '{}' should be a key and its values, as in model.width=64,128", over);
  const std::string key = over.substr(0, equals);
  expect(key != "train.seed", "compare: seeds are not variants but repetitions: --seeds N instead of train.seed");
  expect(key != "validate.metric", "compare: variants are ranked by one metric: --set validate.metric=... chooses it");
  expect(key != "output.folder",
         "compare: every run gets its own output.folder; --output names the folder of them all");
  std::vector<Choice> choices;
  for (const std::string& value : split(over.substr(equals + 1), ',')) {
    const std::string setting = fmt::format("{}={}", key, value);
    choices.push_back({setting, {{setting}}});
  }
  return choices;
}

/// Throws for a key or a value that does not exist, naming the nearest.
void expect_known(Recipe copy, const Settings& settings) {
  try {
    recipe::set(copy, settings);
  } catch (const Error& error) {
    throw recipe::RecipeError(error.what());
  }
}

/// Every combination of one choice from each axis.
std::vector<std::vector<Choice>> combinations(const std::vector<std::vector<Choice>>& axes) {
  std::vector<std::vector<Choice>> all = {{}};
  for (const std::vector<Choice>& axis : axes) {
    std::vector<std::vector<Choice>> longer;
    for (const std::vector<Choice>& before : all)
      for (const Choice& choice : axis) {
        longer.push_back(before);
        longer.back().push_back(choice);
      }
    expect(longer.size() <= kMostVariants, "compare: more than {} variants; compare fewer values at once",
           kMostVariants);
    all = std::move(longer);
  }
  return all;
}

// ------------------------------------------------------------------------------------------------------- trying it

/// Options of the base that this attention does not read take their defaults, unless the variant itself sets them.
void drop_unread(Recipe& recipe, const Settings& settings) {
  std::set<std::string> own;
  for (const std::string& setting : settings) own.insert(key_of(setting));
  const attend::Options defaults;
  std::vector<std::string> idle;
  attend::Options attention = recipe.model.attention;
  attention.project = attention.project_output = true;  // the model says whether it projects, and how many heads it has
  attention.heads = std::max<int64_t>(attention.heads, 2);
  attend::each_option(attention, [&](const char* name, const auto&) {
    if (own.count(kAttention + name) == 0 && !attend::unread(attention, {name}).empty()) idle.emplace_back(name);
  });
  const std::vector<attend::Setting> values = attend::values_of(defaults);
  Settings reset;
  for (const attend::Setting& s : values)
    if (std::find(idle.begin(), idle.end(), s.name) != idle.end())
      reset.push_back(fmt::format("{}{}={}", kAttention, s.name, s.value));
  recipe::set(recipe, reset);
}

/// The same for what the model itself has no use for. Why what the variant sets has no effect; empty: it has. A region
/// that limits nothing makes a model that is there already.
std::string drop_idle(Recipe& recipe, const Settings& settings) {
  std::set<std::string> own;
  for (const std::string& setting : settings) own.insert(key_of(setting));
  const std::map<std::string, std::string> defaults = recipe::values_of(Recipe{.model = {.task = recipe.model.task}});
  Settings reset;
  std::string reason;
  for (const train::WithoutEffect& each : train::without_effect(recipe, train::attentions_of(recipe))) {
    const auto usual = defaults.find(each.key);
    if (own.contains(each.key)) {
      if (each.key != kAttention + attend::name_of(attend::Part::region) || recipe.model.attention.region != "masked")
        reason = each.reason;
    } else if (usual != defaults.end()) {
      reset.push_back(fmt::format("{}={}", each.key, usual->second));
    } else {  // of a place
      const std::string inside = each.key.substr(kAttention.size());
      const size_t dot = inside.rfind('.');
      recipe.model.places[inside.substr(0, dot)].keys.erase(inside.substr(dot + 1));
    }
  }
  recipe::set(recipe, reset);
  return reason;
}

/// Why a score that the variant names would not be used; empty: it is.
std::string unused_score(const Recipe& recipe, const Settings& settings) {
  const std::string score = kAttention + attend::name_of(attend::Part::score);
  const attend::Entry& structure = *attend::resolve(attend::canonical(recipe.model.attention)).structure;
  const bool named = std::any_of(settings.begin(), settings.end(), [&](const auto& s) { return key_of(s) == score; });
  if (!named || !structure.own_score) return "";
  return fmt::format("attention.structure = \"{}\" has its own score", structure.name);
}

/// The base with these settings, as a recipe that makes a model; or why there is none.
struct Attempt {
  std::optional<Recipe> recipe;
  std::string reason;
  bool asked_the_model = true;  // otherwise a key is missing, and another way may tell more
};

Attempt attempt(const Recipe& base, const Settings& settings) {
  for (const std::string& setting : settings)
    if (!recipe::has_key(base, key_of(setting)))
      return {{},
              fmt::format("a recipe with model.task = \"{}\" has no key {}: the model decides that", base.model.task,
                          key_of(setting)),
              false};
  try {
    Recipe recipe = base;
    recipe::set(recipe, settings);
    drop_unread(recipe, settings);
    recipe = recipe::parse(recipe::text_of(recipe), "");  // keys may contradict each other
    if (std::string reason = drop_idle(recipe, settings); !reason.empty()) return {{}, std::move(reason)};
    if (std::string reason = unused_score(recipe, settings); !reason.empty()) return {{}, std::move(reason)};
    return {std::move(recipe), ""};
  } catch (const Error& error) {
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ';');
    return {{}, reason.substr(reason.find_first_not_of(": "))};
  }
}

/// The base whose attention is that of the recipe as given: without what was chosen to fit the data, which may leave no
/// place for a mechanism (hierarchical attention, which has its own score).
Recipe with_given_attention(const PlanBase& base) {
  Recipe recipe = base.settled;
  recipe.model.attention = base.given.model.attention;
  recipe.model.places = base.given.model.places;
  return recipe;
}

/// Tries the ways of every choice, on both attentions, until the model takes one. The reason for a refusal is the first
/// that the model gives.
Variant variant_of(const PlanBase& base, const std::vector<Choice>& choices) {
  Variant variant;
  std::vector<std::string> names;
  size_t most_ways = 1;
  for (const Choice& choice : choices) {
    names.push_back(choice.name);
    most_ways = std::max(most_ways, choice.ways.size());
  }
  variant.name = fmt::format("{}", fmt::join(names, ", "));
  bool model_spoke = false;
  const Recipe bases[] = {base.settled, with_given_attention(base)};
  for (size_t way = 0; way < most_ways; ++way)
    for (const Recipe& from : bases) {
      Settings settings;
      for (const Choice& choice : choices) {
        const Settings& chosen = choice.ways[std::min(way, choice.ways.size() - 1)];
        settings.insert(settings.end(), chosen.begin(), chosen.end());
      }
      Attempt tried = attempt(from, settings);
      if (variant.settings.empty()) variant.settings = settings;
      if (!tried.recipe) {
        if (variant.refusal.empty() || (tried.asked_the_model && !model_spoke)) variant.refusal = tried.reason;
        model_spoke |= tried.asked_the_model;
        continue;
      }
      variant.settings = std::move(settings);
      variant.recipe = std::move(*tried.recipe);
      variant.refusal.clear();
      return variant;
    }
  return variant;
}

/// A name for a folder: letters, digits and a few marks.
std::string folder_name(const std::string& name, std::set<std::string>& taken) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.=+-";
  constexpr size_t kLongest = 100;
  std::string folder;
  for (const char c : name)
    if (c != ' ') folder += kPlain.find(c) != std::string_view::npos ? c : '-';
  folder = folder.substr(0, kLongest);
  if (folder.empty() || folder.front() == '.') folder.insert(0, "-");
  std::string free = folder;
  for (int n = 2; !taken.insert(free).second; ++n) free = fmt::format("{}-{}", folder, n);
  return free;
}

/// What the run of a variant depends on. Names that mean the same are one: aliases, and `masked` is `global`, because
/// no recipe gives a mask.
std::string identity(Recipe recipe) {
  attend::Options& attention = recipe.model.attention;
  attention = attend::canonical(attention);
  std::vector<std::string> regions;
  for (const attend::Entry* region : attend::resolve(attention).regions)
    if (!region->limits_nothing) regions.emplace_back(region->name);
  attention.region = fmt::format("{}", fmt::join(regions, "+"));
  return recipe::text_of(recipe);
}

/// The earlier variant that computes the same; empty: none does. `computed`: of those so far.
std::string same_by_what_it_computes(const PlanBase& base, const Variant& variant,
                                     std::map<std::string, std::string>& computed) {
  if (!base.probe) {
    const auto found = base.same.find(variant.name);
    return found == base.same.end() ? "" : found->second;
  }
  const std::string hash = base.probe->hash(variant.recipe);
  if (hash.empty()) return "";
  const auto [same, is_new] = computed.emplace(hash + beside_attention(variant.recipe), variant.name);
  return is_new ? "" : same->second;
}

}  // namespace

int64_t Plan::runs() const {
  const auto trained =
      std::count_if(variants.begin(), variants.end(), [](const Variant& v) { return v.refusal.empty(); });
  return trained * std::ssize(seeds);
}

std::string seeds_text(const Plan& plan) {
  return plan.seeds.size() == 1 ? fmt::format("seed {}", plan.seeds.front())
                                : fmt::format("seeds {} to {}", plan.seeds.front(), plan.seeds.back());
}

PlanBase settle(const Recipe& given, Same same) {
  const bool by_updates = same == Same::updates && given.stop.minutes > 0;
  Recipe open = given;
  if (by_updates) open.open.insert("stop.steps");  // a few updates are timed, and it becomes as many as fit
  const train::TrainingSetup setup = train::prepare(open, {.timed = by_updates});
  Recipe settled = setup.recipe;
  if (by_updates && settled.stop.steps > 0) {
    if (given.stop.steps > 0) settled.stop.steps = std::min(settled.stop.steps, given.stop.steps);
    settled.stop.minutes = 0;
  }
  settled.open.clear();
  return {given, std::move(settled), std::make_shared<const Probe>(setup)};
}

void check_request(const Recipe& recipe, const Request& request) {
  expect(request.seeds >= 1 && request.seeds <= kMostSeeds, "compare: seeds must be from 1 to {}, not {}", kMostSeeds,
         request.seeds);
  for (const std::string& name : request.attention) attention_choice(name);
  for (const std::string& over : request.over)
    for (const Choice& choice : key_choices(over)) expect_known(recipe, choice.ways.front());
}

Plan make_plan(const PlanBase& base, const Request& request) {
  check_request(base.settled, request);
  std::vector<std::vector<Choice>> axes;
  const std::vector<std::string> names =
      request.attention.empty() && request.over.empty() ? catalogue(base.settled) : request.attention;
  if (!names.empty()) {
    axes.emplace_back();
    for (const std::string& name : names) axes.back().push_back(attention_choice(name));
  }
  for (const std::string& over : request.over) axes.push_back(key_choices(over));

  Plan plan{.base = base, .request = request, .variants = {}, .seeds = {}};
  expect(base.settled.train.seed <= std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(request.seeds),
         "compare: train.seed = {} leaves no room for {} seeds after it", base.settled.train.seed, request.seeds);
  for (int64_t i = 0; i < request.seeds; ++i) plan.seeds.push_back(base.settled.train.seed + static_cast<uint64_t>(i));
  std::map<std::string, std::string> known, computed;  // what is trained, and its name
  std::set<std::string> taken;
  for (const std::vector<Choice>& choices : combinations(axes)) {
    Variant variant = variant_of(base, choices);
    if (variant.refusal.empty()) {
      const auto [same, is_new] = known.emplace(identity(variant.recipe), variant.name);
      if (!is_new) variant.same_as = same->second;
      if (variant.same_as.empty()) variant.same_as = same_by_what_it_computes(base, variant, computed);
      if (!variant.same_as.empty()) variant.refusal = fmt::format("the same model as {}", variant.same_as);
    }
    variant.folder = folder_name(variant.name, taken);
    plan.variants.push_back(std::move(variant));
  }
  if (plan.runs() == 0) {
    const Variant& first = plan.variants.front();
    throw recipe::RecipeError(
        fmt::format("the model can use none of these: {}: {}{}", first.name, first.refusal,
                    plan.variants.size() > 1 ? fmt::format("; and {} more", plan.variants.size() - 1) : ""));
  }
  return plan;
}

Recipe recipe_of_run(const Variant& variant, uint64_t seed, const std::filesystem::path& output) {
  Recipe recipe = variant.recipe;
  const std::string setting[] = {fmt::format("train.seed={}", seed)};
  recipe::set(recipe, setting);
  recipe.output.folder = (output / variant.folder / fmt::format("seed-{}", seed)).string();
  return recipe;
}

}  // namespace heed::compare
