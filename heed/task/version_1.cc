#include "heed/task/version_1.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/task/all.h"
#include "heed/task/model_keys.h"
#include "heed/task/predict_options.h"

namespace heed::task {

namespace {

/// A value of a key that has another meaning, or another name, since version 2.
struct OldWord {
  std::string_view key, before, now;
};

/// Old words that are simply accepted beside the new ones need no line here: only what would be misunderstood does.
constexpr OldWord kOldWords[] = {
    // `wer` was the share of wrong outputs, and `per` the edits per token between blanks, whatever the tokens were.
    {"train.reward", "wer", "ser"},
    {"train.reward", "per", "wer"},
    {"validate.metric", "wer", "ser"},
    {"validate.metric", "per", "wer"},
};

}  // namespace

std::string word_of_today(std::string_view key, std::string_view word) {
  for (const OldWord& old : kOldWords)
    if (old.key == key && old.before == word) return std::string(old.now);
  return std::string(word);
}

std::string with_words_of_today(std::string recipe) {
  std::string_view done;
  for (const OldWord& old : kOldWords) {
    // One replacement for each key: the new word of a line may be the old word of another.
    if (old.key == done || file::peek(recipe, old.key) != old.before) continue;
    recipe = file::with_text(recipe, old.key, old.now);
    done = old.key;
  }
  return recipe;
}

std::string without_former_projections(std::string recipe) {
  std::string kept;
  bool in_attention = false;
  for (size_t begin = 0; begin < recipe.size();) {
    const size_t end = std::min(recipe.find('\n', begin), recipe.size() - 1) + 1;
    const std::string_view line = std::string_view(recipe).substr(begin, end - begin);
    if (line.starts_with('[')) in_attention = line.starts_with("[attention]");
    const bool former = line.starts_with("project = false") || line.starts_with("project_output = false");
    if (!in_attention || !former) kept += line;
    begin = end;
  }
  return kept;
}

void forget_former_projections(model::Options& model, const std::set<std::string>& given) {
  const auto all = model.places.find(encode::kAllPlaces);
  if (all == model.places.end()) return;
  auto& [to, keys] = all->second;
  for (const auto& [name, value] : {std::pair{"project", to.project}, {"project_output", to.project_output}})
    if (!value && !given.contains(std::string("attention.all.") + name)) keys.erase(name);
  if (keys.empty()) model.places.erase(all);
}

Description description_in_recipe(std::string_view recipe, std::string_view file) {
  const std::string name = file::peek(recipe, "model.task");
  const Task* named = all().look_up(name);
  const Task* task = named ? named : all().front();
  data::Options data;
  model::Options model;
  int64_t longest = Description::Answers{}.longest;
  task->set_defaults(data, model);
  model.task = task->name;
  file::Fields fields;
  task->add_data(fields, data);
  add_model_sections(fields, model, *task);
  fields.add("validate.longest", longest, "longest output, in tokens", file::Limit::between(1, kLongest));
  for (const char* of_the_training : {"train", "stop", "validate", "output"}) fields.pass_over(of_the_training);
  try {
    fields.parse(recipe, file);
  } catch (const Error& error) {
    throw Error(ErrorKind::file, error.what());
  }
  Description d = describe(data, model, longest);
  expect_consistent(d, file);
  return d;
}

}  // namespace heed::task
