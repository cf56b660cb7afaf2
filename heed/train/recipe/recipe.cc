#include "heed/train/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "heed/base/disk.h"
#include "heed/task/all.h"
#include "heed/text/utf8.h"
#include "heed/train/objective/all.h"
#include "heed/train/recipe/data_names.h"
#include "heed/train/recipe/sections.h"
#include "heed/train/recipe/settle.h"

namespace heed::recipe {

namespace {

using file::Fields;

/// With the way to its data from a recipe in `folder`.
Recipe named_from(const std::filesystem::path& folder, Recipe recipe) {
  if (name_from(folder, recipe.data))
    for (const char* key : {"data.folder", "data.relative_to"}) recipe.open.erase(key);
  return recipe;
}

/// Values that follow from other keys.
void complete(Recipe& r) {
  data::PairFiles valid = r.data.train;  // the same columns
  valid.source = r.data.valid.source;
  valid.target = r.data.valid.target;
  valid.tsv = r.data.valid.tsv;
  r.data.valid = valid;
  r.data.source.seed = r.data.target.seed = r.train.seed;
  r.data.target.model = r.data.source.model;
  if (r.data.joint) r.data.target = r.data.source;
}

std::vector<std::string> alignment_problems(const Recipe& r) {
  const model::AlignOptions &a = r.model.align, plain;
  const bool given = !r.data.alignments.empty();
  std::vector<std::string> all;
  const auto need = [&](bool condition, std::string what) {
    if (!condition) all.push_back(std::move(what));
  };
  const bool changed = a.weight != plain.weight || a.schedule != plain.schedule || a.steps != plain.steps ||
                       a.layer != plain.layer || a.head != plain.head;
  need(given || !changed, "the keys train.align_... have no effect without data.alignments");
  need(given || r.data.alignments_count == "tokens", "data.alignments_count has no effect without data.alignments");
  need((a.schedule == "constant") == (a.steps == 0),
       "train.align_schedule = \"linear\" or \"exponential\" and train.align_steps above 0 belong together");
  if (!given) return all;
  const std::string time = encode::chosen(r.model.attention, r.model.places, encode::kSourcePlace, 0).options.time;
  need(time != "guided", "data.alignments and attention.time = \"guided\" cannot be combined: both say where to look");
  need(time != "static",
       "data.alignments needs attention that moves, but attention.time = \"static\" looks at one place for all tokens");
  return all;
}

/// Throws if keys contradict each other.
void expect_no_problems(const Recipe& r) {
  std::vector<std::string> reasons = r.task().problems(r.data, r.model);
  const auto need = [&](bool condition, std::string what) {
    if (!condition) reasons.push_back(std::move(what));
  };
  need(r.stop.steps > 0 || r.stop.epochs > 0 || r.stop.minutes > 0 || r.stop.patience > 0 || is_open(r, "stop.epochs"),
       "training would never end: stop.steps, stop.epochs, stop.minutes or stop.patience must be above 0");
  need(r.train.schedule.kind != "cosine" || r.stop.steps > 0 || r.stop.epochs > 0 || is_open(r, "stop.epochs"),
       "train.schedule = \"cosine\" needs an end: stop.steps or stop.epochs must be above 0");
  need(r.validate.metric == "loss" || r.validate.decode != 0,
       "validate.metric = \"" + r.validate.metric + "\" needs outputs: validate.decode must not be 0");
  for (std::string& reason : objective::problems(r.train.objective, r.model)) reasons.push_back(std::move(reason));
  for (std::string& reason : alignment_problems(r)) reasons.push_back(std::move(reason));
  std::string all;
  for (const std::string& reason : reasons) all += fmt::format("{}{}: {}", all.empty() ? "" : "\n", r.file, reason);
  if (!all.empty()) throw RecipeError(all);
}

/// Calls `use` with the recipe as fields.
template <class Use>
auto with_fields(Recipe copy, const Use& use) {
  // TOML holds only UTF-8. In a checkpoint the folder is only a note: resuming names it anyway.
  if (text::utf8_fault(copy.output.folder) != std::string::npos) copy.output.folder.clear();
  Fields fields;
  add_sections(fields, copy, copy.task());
  return use(fields);
}

}  // namespace

const task::Task& Recipe::task() const { return task::find(model.task); }

task::Description describe(const Recipe& recipe) {
  return task::describe(recipe.data, recipe.model, recipe.validate.longest);
}

bool is_open(const Recipe& recipe, std::string_view key) { return recipe.open.count(std::string(key)) > 0; }

const task::Task& task_of(std::string_view toml, std::span<const std::string> overrides, const Precedent* precedent) {
  const std::string name = file::peek(toml, "model.task", overrides);
  if (name.empty() && precedent) return precedent->recipe.task();
  const task::Task* task = task::all().look_up(name);
  return task ? *task : *task::all().front();
}

Recipe parse(std::string_view toml, std::string_view file, std::span<const std::string> overrides,
             const Precedent* precedent) {
  Recipe recipe;
  Fields fields;
  const task::Task& task = task_of(toml, overrides, precedent);
  task.set_defaults(recipe.data, recipe.model);
  recipe.model.task = task.name;
  add_sections(fields, recipe, task);
  try {
    const std::set<std::string> given = fields.parse(toml, file, overrides, &recipe.notes);
    recipe.open = fields.keys();
    for (const std::string& key : given) recipe.open.erase(key);
  } catch (const Error& error) {
    throw RecipeError(error.what());
  }
  find_data(recipe.data, file, overrides);
  complete(recipe);
  recipe.file = file;
  if (precedent) settle_as(recipe, *precedent);
  expect_no_problems(recipe);
  return recipe;
}

Recipe following(const Recipe& recipe, const Precedent& precedent) {
  if (recipe.open.empty()) return recipe;
  Recipe followed = recipe;
  if (recipe.model.task != precedent.recipe.model.task && is_open(recipe, "model.task")) {
    // Another task has other keys: those that were given are read anew.
    std::vector<std::string> given;
    for (const auto& [key, value] : values_of(recipe))
      if (!is_open(recipe, key)) given.push_back(key + "=" + value);
    followed = parse("", recipe.file, given, &precedent);
    followed.notes = recipe.notes;
    followed.output.folder = recipe.output.folder;  // which may not be UTF-8
    return followed;
  }
  settle_as(followed, precedent);
  expect_no_problems(followed);
  return followed;
}

std::string read_recipe(const std::filesystem::path& path) {
  try {
    return file::read_text(path, file::kLargestFields);
  } catch (const Error& error) {
    throw RecipeError(error.what());
  }
}

Recipe read(const std::filesystem::path& path, std::span<const std::string> overrides) {
  return parse(read_recipe(path), path.string(), overrides);
}

std::string text_of(const Recipe& recipe) {
  return with_fields(recipe, [](const Fields& fields) { return fields.text(); });
}

std::string short_text_of(const Recipe& recipe) {
  return with_fields(recipe, [&](const Fields& fields) { return fields.short_text(recipe.open); });
}

std::string text_beside(const Recipe& recipe, const std::filesystem::path& folder) {
  return text_of(named_from(folder, recipe));
}

std::string short_text_beside(const Recipe& recipe, const std::filesystem::path& folder) {
  return short_text_of(named_from(folder, recipe));
}

void set(Recipe& recipe, std::span<const std::string> settings) {
  Fields fields;
  add_sections(fields, recipe, recipe.task());
  for (const std::string& key : fields.parse("", recipe.file, settings, &recipe.notes)) recipe.open.erase(key);
  complete(recipe);
}

std::map<std::string, std::string> values_of(const Recipe& recipe) {
  return with_fields(recipe, [](const Fields& fields) { return fields.values(); });
}

std::map<std::string, std::vector<std::string>> words_of_keys() {
  std::map<std::string, std::vector<std::string>> all;
  for (const task::Task* task : task::all()) {
    Recipe recipe;
    Fields fields;
    add_sections(fields, recipe, *task);
    for (auto& [key, words] : fields.words())
      for (std::string& word : words) {
        std::vector<std::string>& known = all[key];
        if (std::find(known.begin(), known.end(), word) == known.end()) known.push_back(std::move(word));
      }
    for (const std::string& key : fields.keys()) all[key];
  }
  return all;
}

std::set<std::string> places_of(const Recipe& recipe) {
  return with_fields(recipe, [](const Fields& fields) { return fields.keys_on_demand(); });
}

bool has_key(const Recipe& recipe, const std::string& key) {
  return with_fields(recipe, [&](Fields& fields) { return fields.knows(key); });
}

std::vector<file::FieldDifference> differences(const Recipe& now, const Recipe& before) {
  return with_fields(now, [&](const Fields& mine) {
    return with_fields(before, [&](const Fields& theirs) { return mine.differences(theirs); });
  });
}

void copy(Recipe& recipe, const Recipe& from, const std::set<std::string>& keys) {
  Fields fields;
  add_sections(fields, recipe, recipe.task());
  const auto copied = with_fields(from, [&](const Fields& theirs) { return fields.copy(theirs, keys); });
  for (const std::string& key : copied) recipe.open.erase(key);
  complete(recipe);
}

std::string difference(const Recipe& now, const Recipe& before) {
  constexpr std::string_view kFixed[] = {"model.", "attention.", "train."};
  std::string all;
  for (const auto& [key, here, there] : differences(now, before))
    if (is_among(key, kFixed)) all += fmt::format("{}{} is {}, was {}", all.empty() ? "" : "; ", key, here, there);
  return all;
}

std::string_view example() {
  return R"(# Dates in some 40 languages to ISO 8601, with a GRU and additive attention: a minute on two cores.
[data]
task = "dates"                # built in; or files:
# source = "train.de.gz"      #   two files, line by line (plain or gzip),
# target = "train.en.gz"
# valid_source = "valid.de"   #   and two for validation; without them, data.held_out of the pairs
# valid_target = "valid.en"
# tsv = "words.tsv"           #   or one file with columns
# source_tokens = "words"     # characters, letters, words or sentencepiece
# target_tokens = "sentencepiece"
# target_size = 8000

[model]
kind = "rnn"                  # or transformer
cell = "gru"
width = 128

[attention]
score = "additive"            # any of `heed mechanisms --part score`

[train]
batch_tokens = 1024
learning_rate = 0.003
schedule = "cosine"
warmup = 50

[stop]
epochs = 4

[validate]
every = 200
metric = "exact"

[output]
folder = "dates"
)";
}

}  // namespace heed::recipe
