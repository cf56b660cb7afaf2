#include "heed/train/training_setup.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/data/plain_files.h"
#include "heed/text/tokeniser.h"
#include "heed/train/optimise/gradient_sum.h"
#include "heed/train/pace.h"
#include "heed/train/recipe/data_files.h"
#include "heed/train/recipe/of_encoder.h"
#include "heed/train/recipe/of_model.h"
#include "heed/train/recipe/settle.h"
#include "heed/train/trainer.h"
#include "heed/train/without_effect.h"

namespace heed::train {

namespace {

using recipe::Recipe;
using recipe::RecipeError;

/// The reasons why the model cannot be made, each with the file and the keys behind it. What begins with "attention: "
/// or "attention.source: " is about that section, and so are the reasons after it.
std::string model_complaint(const Recipe& recipe, std::string_view reasons) {
  constexpr std::string_view kAttention = "attention", kModel = "model: ", kEnd = ": ";
  const std::string file = recipe.file.empty() ? "" : recipe.file + ": ";
  std::string place = file, all;
  while (!reasons.empty()) {
    std::string_view reason = reasons.substr(0, reasons.find('\n'));
    reasons.remove_prefix(std::min(reason.size() + 1, reasons.size()));
    if (reason.starts_with(kModel)) reason.remove_prefix(kModel.size());
    const std::string_view section = reason.substr(0, reason.find(kEnd));
    if (section.starts_with(kAttention) && section.size() < reason.size() &&
        section.find(' ') == std::string_view::npos) {
      place = fmt::format("{}[{}] ", file, section);
      reason.remove_prefix(section.size() + kEnd.size());
    }
    all += (all.empty() ? "" : "\n") + place;
    // The widths of an attention follow from model.width.
    if (reason.find("cannot be shared by") != std::string_view::npos)
      all += fmt::format("heads = {} with [model] width = {}: ", recipe.model.attention.heads, recipe.model.width);
    all += reason;
  }
  return all;
}

/// The model of a recipe without its weights, which are not even allocated: that is quick, and wrong options or a model
/// that is too large are reported early.
trained::TrainedModel model_of(const Recipe& recipe, task::Vocabularies vocabularies) {
  trained::TrainedModel made;
  try {
    made = trained::make_model(recipe::describe(recipe), std::move(vocabularies), recipe.train.seed, Start::empty);
  } catch (const Error& error) {
    throw RecipeError(model_complaint(recipe, error.what()));
  }
  // The weights and two moments of Adam; the gradients, some of them waiting for others; and the average.
  double numbers = 0;
  for (const Parameter& p : *made.parameters) numbers += static_cast<double>(p.rows()) * static_cast<double>(p.cols());
  const auto copies = 3 + optimise::gradients_at_once(recipe.train.accumulate) + (recipe.train.average > 0 ? 1 : 0);
  const double bytes = sizeof(float) * static_cast<double>(copies) * numbers;
  expect_memory(bytes, fmt::format("the training of {:.0f} parameters", numbers),
                "use a smaller model.width, fewer layers or smaller vocabularies");
  return made;
}

/// Before the data is read, with a tiny vocabulary.
void expect_a_model(const Recipe& recipe) {
  const std::string_view one_line[] = {"a"};
  const auto tokens = text::Tokeniser::train(one_line, {});
  model_of(recipe, {tokens, tokens});
}

}  // namespace

std::vector<attend::Made> attentions_of(const Recipe& recipe) {
  const attend::Census census;
  expect_a_model(recipe);
  return census.all();
}

void check_model(const Recipe& recipe) {
  // An option that nothing reads usually belongs to a part that was meant but not named.
  std::vector<std::string> reasons;
  for (const WithoutEffect& each : without_effect(recipe, attentions_of(recipe)))
    if (std::find(reasons.begin(), reasons.end(), each.reason) == reasons.end()) reasons.push_back(each.reason);
  if (!reasons.empty()) throw RecipeError(model_complaint(recipe, fmt::format("{}", fmt::join(reasons, "\n"))));
}

namespace {

void check_lengths(const task::Corpus& corpus, const model::Model& model) {
  const int64_t positions = model.max_positions(), most = model.max_predictions();
  for (const data::Dataset* examples : {corpus.train.get(), corpus.valid.get()})
    for (int64_t i = 0; i < examples->size(); ++i) {
      const int64_t longest = examples->longest_sequence(i);
      expect(longest <= positions, ErrorKind::data,
             "line {} of the data has {} tokens, but the model has positions for {}: increase model.max_length or "
             "attention.max_length, or skip such lines with data.max_source and data.max_target",
             examples->line_number(i), longest, positions);
      const int64_t predictions = examples->predictions(i);
      expect(predictions <= most, ErrorKind::data,
             "the target in line {} of the data has {} tokens, its end included, but the model writes at most {}: "
             "increase model.max_length (of model.length = \"slots\": model.slots), or skip such lines with "
             "data.max_target",
             examples->line_number(i), predictions, most);
    }
}

/// Keys that weights do not depend on: those of the loss and of training. The decoder may be another one, with the
/// weights that both have (trained::start_from).
std::string attention_option(std::string_view key) {  // "attention.window", wherever it was named
  constexpr std::string_view kAttention = "attention.";
  return key.starts_with(kAttention) ? fmt::format("attention{}", key.substr(key.rfind('.'))) : "";
}
bool fits_the_weights_anyway(std::string_view key) {
  const std::string name = attention_option(key);
  if (!name.empty()) key = name;
  for (const std::string_view each :
       {"model.decoder", "model.length", "model.slots", "model.max_length", "model.penalty", "attention.baseline",
        "attention.baseline_decay", "attention.entropy_weight", "attention.entropy_schedule", "attention.entropy_steps",
        "attention.guide_weight", "attention.guide_schedule", "attention.guide_steps"})
    if (key == each) return true;
  return key.starts_with("validate.") || key.find("dropout") != std::string_view::npos ||
         key.find("_size") != std::string_view::npos || key.find("_min_count") != std::string_view::npos;
}

/// A recipe that leaves its task open is one of pairs, even if its data looks like something else.
std::string doubt_about_task(const Recipe& r) {
  std::error_code ignored;
  if (!recipe::is_open(r, "model.task") || !std::filesystem::is_regular_file(r.data.train.tsv, ignored)) return "";
  const recipe::Recognised found = recipe::recognise(r.data.train.tsv);
  if (found.why.empty()) return "";
  return fmt::format("'{}': {}, as for model.task = \"{}\", but model.task is not set, and then it is \"{}\"",
                     r.data.train.tsv.string(), found.why, found.task->name, r.model.task);
}

/// Large steps would destroy what was learned.
std::vector<task::Suggestion> go_gently(Recipe& r, const Recipe& theirs) {
  constexpr float kGently = 0.3f;
  if (recipe::is_open(theirs, "train.learning_rate")) return {};  // nobody knows what it was trained with
  const task::Suggestion rate = {"train.learning_rate", fmt::format("{}", kGently * theirs.train.schedule.peak),
                                 "0.3 times that of the trained model"};
  return recipe::settle(r, std::span(&rate, 1));
}

std::optional<RecipeError> refusal_of(const Recipe& recipe) {
  try {
    expect_a_model(recipe);
    return {};
  } catch (const RecipeError& error) {
    return error;
  }
}

/// Whether it makes a model in which everything that was given has an effect, apart from what had none before.
bool suits(Recipe recipe, const Recipe& given) {
  recipe.open = given.open;
  try {
    return without_effect(recipe, attentions_of(recipe)).empty();
  } catch (const RecipeError&) {
    return false;
  }
}

/// As recipe::settle(). But what was chosen never contradicts what was given: of the values for a model that it cannot
/// have, or that leave a given key without effect, as few as possible are left out.
std::vector<task::Suggestion> settle_fitting(Recipe& r, const std::vector<task::Suggestion>& suggestions) {
  const Recipe given = r;
  std::vector<task::Suggestion> taken = recipe::settle(r, suggestions);
  if (suits(r, given)) return taken;
  const auto may_go = [](const task::Suggestion& each) {
    return each.key.starts_with("model.") || each.key.starts_with("attention.");
  };
  for (size_t first = 0; first < taken.size(); ++first)
    for (size_t second = 0; second <= first; ++second) {  // equal: one alone
      if (!may_go(taken[first]) || !may_go(taken[second])) continue;
      std::vector<task::Suggestion> fewer;
      for (size_t i = 0; i < taken.size(); ++i)
        if (i != first && i != second) fewer.push_back(taken[i]);
      Recipe tried = given;
      fewer = recipe::settle(tried, fewer);
      if (!suits(tried, given)) continue;
      r = tried;
      return fewer;
    }
  return taken;  // it is not their fault
}

}  // namespace

Recipe fitted(const Recipe& recipe, const trained::TrainedModel& weights, std::string_view name) {
  const Recipe theirs = recipe::of_model(weights);
  if (!recipe::is_open(recipe, "model.task") && recipe.model.task != theirs.model.task) {
    if (!recipe::may_start_from_encoder(recipe.task(), theirs))
      throw RecipeError(
          fmt::format("model.task is \"{}\", but '{}' was trained with \"{}\", and the two have no encoder of texts in "
                      "common: --set model.task={}",
                      recipe.model.task, name, theirs.model.task, theirs.model.task));
    Recipe r = recipe::following(recipe, {.recipe = theirs});
    recipe::expect_encoder_of(r, theirs, name);
    return r;
  }
  Recipe r = recipe::following(recipe, {.recipe = theirs});
  std::string wrong;
  for (const auto& [key, here, there] : recipe::differences(r, theirs)) {
    if (!recipe::is_of_the_model(key) || fits_the_weights_anyway(key) || recipe::is_open(theirs, key)) continue;
    wrong += fmt::format("{}{} is {}, but '{}' was trained with {}", wrong.empty() ? "" : "\n", key, here, name, there);
  }
  if (!wrong.empty()) throw RecipeError(wrong + "\nleave these keys out: they follow from the weights");
  return r;
}

void check_model_on_data(const Recipe& recipe) {
  try {
    check_model(recipe);
  } catch (const RecipeError&) {
    // What nobody set may be why: the data may choose something else.
    Recipe settled = recipe;
    try {
      data::expect_plain_files(settled.data);
      settle_fitting(
          settled,
          settled.task().read(settled.data, settled.train.seed)->suggest(settled.open, settled.data, settled.model));
      settled.open = recipe.open;
      check_model(settled);
      return;
    } catch (const Error&) {
    }
    throw;
  }
}

TrainingSetup prepare(const Recipe& recipe, const StartFrom& beginning,
                      const std::function<void(const std::string&)>& tell) {
  const auto say = [&](const char* what) {
    if (tell) tell(what);
  };
  TrainingSetup p;
  p.recipe = recipe;
  Recipe& r = p.recipe;
  if (beginning.checkpoint) {
    constexpr std::string_view kAll[] = {""};
    recipe::settle_as(r, recipe::of_checkpoint(*beginning.checkpoint), kAll);
  }
  if (beginning.weights) {
    r = fitted(r, *beginning.weights, beginning.weights_name);
    // But an answer that is a text needs a decoder, which starts anew.
    const Recipe theirs = recipe::of_model(*beginning.weights);
    if (theirs.model.task == r.model.task || r.task().answers() == task::AnswerKind::label)
      p.chosen = go_gently(r, theirs);
  }
  // An option that nothing reads may be for a variant, and the data may choose what a model lacks.
  std::optional<RecipeError> early;
  if (!beginning.checked) early = refusal_of(r);
  const std::string doubt = doubt_about_task(r);
  say("reading the data");
  data::expect_plain_files(r.data);
  std::unique_ptr<task::RawCorpus> texts;
  try {
    texts = r.task().read(r.data, r.train.seed);
  } catch (const Error&) {
    if (early) throw *early;
    throw;
  }
  const auto add = [&](const std::vector<task::Suggestion>& chosen) {
    p.chosen.insert(p.chosen.end(), chosen.begin(), chosen.end());
  };
  add(settle_fitting(r, texts->suggest(r.open, r.data, r.model)));
  say("splitting it into tokens");
  const bool goes_on = beginning.weights && beginning.weights->description.model.task == r.model.task;
  task::Vocabularies of_encoder;
  if (beginning.weights && !goes_on) of_encoder.source = beginning.weights->vocabularies.source;
  p.model =
      model_of(r, beginning.checkpoint ? trained::load_vocabularies(*beginning.checkpoint, recipe::describe(r))
                                       : texts->learn_vocabularies(r.data, goes_on ? &beginning.weights->vocabularies
                                                                           : beginning.weights ? &of_encoder
                                                                                               : nullptr));
  p.corpus = texts->encode(p.model.vocabularies, r.data, p.model.description.model);
  check_lengths(p.corpus, *p.model.model);
  p.updates_per_epoch = updates_per_epoch(*p.corpus.train, r.train);
  recipe::Pace pace;
  if (beginning.timed && !beginning.checkpoint && r.stop.minutes > 0) {
    say("timing a few updates");
    pace = measured_pace(r, p, beginning);
  }
  pace.updates_per_epoch = p.updates_per_epoch;
  add(recipe::settle(r, recipe::suggest_length(r, pace, goes_on)));
  const std::vector<std::string> warnings = recipe::length_warnings(r, pace);
  p.corpus.warnings.insert(p.corpus.warnings.begin(), warnings.begin(), warnings.end());
  if (!doubt.empty()) p.corpus.warnings.insert(p.corpus.warnings.begin(), doubt);
  return p;
}

}  // namespace heed::train
