#include "heed/task/version_1.h"

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
