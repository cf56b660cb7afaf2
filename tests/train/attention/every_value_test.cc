// Every value of every option of attention, in every task: it trains and changes something, or it is refused for a
// reason that names what was set. Nothing is ignored.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heed/attend/all.h"
#include "heed/attend/settings.h"
#include "tests/train/attention/kinds.h"

namespace heed::train::test {
namespace {

using heed::test::TemporaryFolder;

/// Values that differ from the defaults, as --set takes them.
std::vector<std::string> values_for(const std::string& option) {
  for (const attend::Part part : {attend::Part::score, attend::Part::normalise, attend::Part::region,
                                  attend::Part::time, attend::Part::structure}) {
    if (option != attend::name_of(part)) continue;
    std::vector<std::string> names;
    for (const attend::Entry* entry : attend::all())
      if (entry->part == part) names.emplace_back(entry->name);
    if (part == attend::Part::region) names.insert(names.end(), {"causal+sliding_window", "local_m+local_p"});
    return names;
  }
  static const std::map<std::string, std::vector<std::string>> values = {{"position", {"alibi", "relative", "rotary"}},
                                                                         {"activation", {"relu", "gelu"}},
                                                                         {"form", {"linear"}},
                                                                         {"at_test", {"argmax"}},
                                                                         {"baseline", {"self_critical"}},
                                                                         {"entropy_schedule", {"linear"}},
                                                                         {"guide_schedule", {"exponential"}},
                                                                         {"project", {"false", "true"}},
                                                                         {"project_output", {"false", "true"}},
                                                                         {"project_bias", {"false"}},
                                                                         {"heads", {"2"}},
                                                                         {"kv_heads", {"1"}},
                                                                         {"width", {"32"}},
                                                                         {"hidden", {"6"}},
                                                                         {"depth", {"2"}},
                                                                         {"queries", {"2"}},
                                                                         {"predict", {"1"}},
                                                                         {"max_length", {"40"}},
                                                                         {"reach", {"1"}},
                                                                         {"samples", {"2"}},
                                                                         {"window", {"1"}},
                                                                         {"sinks", {"1"}},
                                                                         {"entropy_steps", {"5"}},
                                                                         {"guide_steps", {"5"}},
                                                                         {"temperature", {"2"}},
                                                                         {"softcap", {"0.01"}},
                                                                         {"rotary_base", {"3"}},
                                                                         {"dropout", {"0.5"}},
                                                                         {"baseline_decay", {"0.1"}},
                                                                         {"entropy_weight", {"0.5"}},
                                                                         {"sigma", {"0.3"}},
                                                                         {"guide_sigma", {"0.05"}},
                                                                         {"guide_weight", {"3"}}};
  if (const auto found = values.find(option); found != values.end()) return found->second;
  const attend::Options defaults;
  for (const attend::Setting& s : attend::values_of(defaults))
    if (s.name == option && s.value == "false") return {"true"};
  return {};
}

/// The options that a recipe of this task has.
std::vector<std::string> options_of(const recipe::Recipe& recipe) {
  std::vector<std::string> names;
  const attend::Options any;
  attend::each_option(any, [&](const char* name, const auto&) {
    if (recipe::has_key(recipe, std::string("attention.") + name)) names.emplace_back(name);
  });
  return names;
}

std::string told(const std::vector<attend::Made>& made) {
  std::string all;
  for (const attend::Made& each : made) {
    all += each.name;
    attend::Options o = each.options;
    // The same by definition: a network with one tanh layer is additive, and general to the past alone is intra.
    if (o.score == "mlp" && o.depth == 1 && o.activation == "tanh") o.score = "additive";
    if (o.score == "intra" && o.strict) o.score = "general";
    // Pieces of texts are told apart whether or not they are one sequence.
    if (const size_t at = o.region.find("documents+"); at != std::string::npos) o.region.erase(at, 10);
    if (const size_t at = o.region.find("+documents"); at != std::string::npos) o.region.erase(at, 10);
    for (const attend::Setting& s : attend::values_of(o)) all += fmt::format(" {}={}", s.name, s.value);
    all += "\n";
  }
  return all;
}

/// Whether a reason names something that was set: an option, a value, or its section.
bool names(const std::string& reason, const Settings& settings) {
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    const std::string option = key.substr(key.rfind('.') + 1);
    for (const std::string& word :
         {key, option + " ", option + ":", option + ",", "\"" + value, value + " ", value + ":"})
      if (reason.find(word) != std::string::npos) return true;
  }
  return false;
}

struct Counts {
  int64_t trained = 0, refused = 0;
  int64_t anyway = 0;   // what it does without being told
  int64_t ignored = 0;  // must stay 0
};

class EveryValue {
 public:
  EveryValue(const Kind& kind, const TemporaryFolder& folder) : kind_(kind), folder_(folder) {
    EXPECT_EQ(outcome_of(kind, folder, {}).refusal, "") << kind.name;
  }
  const Counts& counts() const { return counts_; }

  /// One more setting beside `before`.
  void tries(const Settings& before, const std::string& key, const std::string& value) {
    Settings all = before;
    all.push_back(key + "=" + value);
    // Texts here are short: a window as wide as usual would hide nothing.
    const bool has_window = std::ranges::any_of(all, [](const std::string& setting) {
      return std::ranges::any_of(std::array{"local_m", "local_p", "local_h", "sliding_window"},
                                 [&](const char* region) { return setting.find(region) != std::string::npos; });
    });
    const std::string window = key.substr(0, key.rfind('.')) + ".window";
    const auto is_window = [&](const std::string& setting) { return setting.starts_with(window + "="); };
    if (has_window && std::ranges::none_of(all, is_window)) all.push_back(window + "=1");
    const Outcome with = outcome_of(kind_, folder_, all);
    const std::string what = fmt::format("{}: {}", kind_.name, fmt::join(all, " "));
    if (!with.refusal.empty()) {
      ++counts_.refused;
      EXPECT_TRUE(names(with.refusal, all)) << what << "\n  is refused without naming it: " << with.refusal;
      return;
    }
    const Outcome without = all_but(with, before, key);
    if (!without.refusal.empty()) {
      ++counts_.trained;  // nothing is made without it
    } else if (with.numbers != without.numbers) {
      ++counts_.trained;
    } else if (told(with.made) == told(without.made)) {
      ++counts_.anyway;
    } else {
      ++counts_.ignored;
      ADD_FAILURE() << what << "\n  changes nothing";
    }
  }

 private:
  /// The same, with everything that was chosen, but for that key.
  static Outcome all_but(const Outcome& with, const Settings& before, const std::string& key) {
    recipe::Recipe recipe = with.settled;
    const std::string inside = key.substr(key.find('.') + 1);
    const size_t dot = inside.rfind('.');
    const std::string option = inside.substr(dot == std::string::npos ? 0 : dot + 1);
    const std::string place = dot == std::string::npos ? encode::kAllPlaces : inside.substr(0, dot);
    if (const auto at = recipe.model.places.find(place); at != recipe.model.places.end()) at->second.keys.erase(option);
    const attend::Options defaults;
    Settings reset;
    if (dot == std::string::npos && option != "project" && option != "project_output")
      for (const attend::Setting& s : attend::values_of(defaults))
        if (s.name == option) reset = {fmt::format("{}={}", key, s.value)};
    for (const std::string& setting : before)
      if (setting.starts_with(key + "=")) reset = {setting};
    recipe::set(recipe, reset);
    Outcome outcome;
    try {
      train(outcome, recipe);
    } catch (const Error& error) {
      outcome.refusal = error.what();
    }
    return outcome;
  }

  Kind kind_;
  const TemporaryFolder& folder_;
  Counts counts_;
};

class Attention : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { write_data(folder_); }
  TemporaryFolder folder_;
};

void report(const Kind& kind, const char* what, const Counts& c) {
  fmt::print("{} {}: {} trained, {} refused, {} as it is anyway, {} ignored\n", kind.name, what, c.trained, c.refused,
             c.anyway, c.ignored);
}

/// One key alone.
TEST_P(Attention, EveryValueDoesSomethingOrIsRefused) {
  EveryValue every(GetParam(), folder_);
  for (const std::string& option : options_of(recipe_of(GetParam(), folder_, {})))
    for (const std::string& value : values_for(option)) every.tries({}, "attention." + option, value);
  report(GetParam(), "alone", every.counts());
  EXPECT_EQ(every.counts().ignored, 0);
  EXPECT_GT(every.counts().trained, 0);
}

/// Beside a mechanism, each of its options.
TEST_P(Attention, EveryOptionOfAMechanismDoesSomethingOrIsRefused) {
  EveryValue every(GetParam(), folder_);
  const recipe::Recipe plain = recipe_of(GetParam(), folder_, {});
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part == attend::Part::input || attend::words(entry->options).empty()) continue;
    Settings before = {fmt::format("attention.{}={}", attend::name_of(entry->part), entry->name)};
    if (entry->part == attend::Part::region && std::string(entry->name) == "sinks")
      before = {"attention.region=sliding_window+sinks", "attention.window=1", "attention.sinks=2"};
    if (!outcome_of(GetParam(), folder_, before).refusal.empty()) continue;
    std::vector<std::string> options = attend::words(entry->options);
    if (entry->part == attend::Part::structure)
      options.insert(options.end(), {"dropout", "softcap", "position", "form"});
    for (const std::string& option : options)
      if (recipe::has_key(plain, "attention." + option))
        for (const std::string& value : values_for(option)) every.tries(before, "attention." + option, value);
  }
  report(GetParam(), "beside a mechanism", every.counts());
  EXPECT_EQ(every.counts().ignored, 0);
}

/// At one place.
TEST_P(Attention, EveryValueAtAPlaceDoesSomethingOrIsRefused) {
  EveryValue every(GetParam(), folder_);
  for (std::string place : GetParam().places) {
    Settings before;
    if (place.starts_with('+')) {  // it appears once it is named
      place.erase(0, 1);
      before = {fmt::format("attention.{}.score=general", place)};
    }
    for (const std::string& option : options_of(recipe_of(GetParam(), folder_, {})))
      for (const std::string& value : values_for(option))
        every.tries(before, fmt::format("attention.{}.{}", place, option), value);
  }
  report(GetParam(), "at a place", every.counts());
  EXPECT_EQ(every.counts().ignored, 0);
}

INSTANTIATE_TEST_SUITE_P(, Attention, testing::ValuesIn(kinds()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heed::train::test
