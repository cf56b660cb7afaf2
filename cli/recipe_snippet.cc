#include "cli/recipe_snippet.h"

#include <fmt/format.h>

#include "heed/attend/all.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/training_setup.h"

namespace heed::cli {

namespace {

std::string kind_text(const char* kind) { return fmt::format("[model]\nkind = \"{}\"\n", kind); }

bool makes_a_model(const std::string& toml) {
  std::string data = "task = \"reverse\"";
  if (toml.find("task = \"classification\"") != std::string::npos) data = "tsv = \"texts.tsv\"";
  if (toml.find("task = \"language_model\"") != std::string::npos) data = "text = \"text.txt\"";
  try {
    train::check_model(recipe::parse(toml + "[data]\n" + data + "\n[stop]\nsteps = 1\n", "snippet"));
    return true;
  } catch (const recipe::RecipeError&) {
    return false;
  }
}

/// The [attention] section, with a [model] section before it if only one kind of model of pairs takes it, or one of
/// another task; empty if none does.
std::string with_kind(const std::string& attention) {
  const std::string rnn = kind_text("rnn"), transformer = kind_text("transformer");
  const bool in_rnn = makes_a_model(rnn + attention), in_transformer = makes_a_model(transformer + attention);
  if (!in_rnn && !in_transformer) {
    for (const char* other : {"task = \"classification\"\n", "task = \"language_model\"\nkind = \"rnn\"\n",
                              "task = \"language_model\"\nkind = \"transformer\"\n"})
      if (std::string whole = fmt::format("[model]\n{}\n{}", other, attention); makes_a_model(whole)) return whole;
    return "";
  }
  if (in_rnn && in_transformer) return attention;
  return (in_rnn ? rnn : transformer) + "\n" + attention;
}

}  // namespace

std::string recipe_snippet(const attend::Entry& entry, const std::vector<Setting>& settings) {
  std::string all = "[attention]\n";
  for (const Setting& s : settings) all += fmt::format("{} = {}\n", s.name, s.value);
  std::string snippet = with_kind(all);
  if (!snippet.empty()) return snippet;
  // No key chooses it: a model of labels has learned queries wherever a structure has none of its own.
  if (&entry == &attend::learned_query_entry)
    return "[model]\ntask = \"classification\"\n\n[attention]\nscore = \"additive\"  # of a learned_query to the "
           "states\n";
  // The model may set the other options of the name itself.
  return with_kind(fmt::format("[attention]\n{} = \"{}\"\n", attend::name_of(entry.part), entry.name));
}

const char* without_recipe(const attend::Entry& entry) {
  if (entry.part == attend::Part::input && !entry.own_queries)
    return "A recipe has no key for it: the model decides where queries, keys and values come from.";
  return "No model in heed uses it: use it from Python or C++.";
}

}  // namespace heed::cli
