// heed train: from pairs of lines, or a recipe, to a trained model.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/counter.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "cli/train_input.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/tensor/profile.h"
#include "heed/train/event_file.h"
#include "heed/train/log.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/session.h"
#include "heed/train/training_setup.h"
#include "heed/train/without_effect.h"

namespace heed::cli {

namespace {

struct TrainArguments {
  std::vector<std::string> files;  // a recipe, or the data
  std::string output, from;
  std::vector<std::string> overrides;
  bool resume = false, show = false, profile = false;
};

recipe::Understood recipe_of(const TrainArguments& c) {
  if (c.files.empty() && !c.resume)
    throw Error(
        "train: data or a recipe is needed: heed train PAIRS.tsv, heed train SOURCE TARGET, or heed train RECIPE. "
        "heed train --help shows a recipe");
  if (c.files.empty() && c.output.empty())
    throw Error(
        "train: --resume needs the data, a recipe, or a training folder: "
        "heed train --resume --output FOLDER");
  recipe::Understood understood;
  if (c.files.empty()) {
    understood.recipe = train::recipe_of_folder(c.output, c.overrides);
    tell_notes(understood.recipe);
  } else {
    const auto precedent = train::precedent_of({.resume = c.resume, .from = c.from}, c.output);
    understood = recipe_of_files(c.files, c.overrides, precedent ? &*precedent : nullptr);
  }
  if (!c.output.empty()) {
    understood.recipe.output.folder = c.output;
    understood.recipe.open.erase("output.folder");
  }
  return understood;
}

/// Quoted for a shell, if needed.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The command that resumes this training.
std::string command_to_go_on(const TrainArguments& c, const std::string& folder) {
  std::string command = "heed train ";
  for (const std::string& file : c.files) command += shell_quoted(file) + " ";
  for (const std::string& setting : c.overrides) command += "--set " + shell_quoted(setting) + " ";
  return command + "--resume --output " + shell_quoted(folder);
}

/// Whether the data can be read again, as --valid does: a pipe cannot.
bool is_still_there(const data::Options& data) {
  std::error_code ignored;
  for (const data::PairFiles* files : {&data.train, &data.valid})
    for (const std::filesystem::path* file : {&files->source, &files->target, &files->tsv})
      if (!file->empty() && !std::filesystem::is_regular_file(*file, ignored)) return false;
  return true;
}

/// What people usually do with a new model: commands that this model accepts.
std::string what_next(const recipe::Recipe& recipe) {
  const std::string& folder = recipe.output.folder;
  const std::string model = shell_quoted(folder.starts_with('-') ? "./" + folder : folder);
  std::filesystem::path name = std::filesystem::path(folder).filename();
  if (name.empty() || name == "." || name == "..") name = "model";
  if (name.string().starts_with('-')) name = "./" + name.string();
  const std::string file = shell_quoted(name.string() + ".heed");
  std::vector<std::pair<std::string, const char*>> commands = {
      {fmt::format("heed predict {} < lines.txt", model), "run it, line by line"}};
  if (is_still_there(recipe.data)) {
    // A model of running text has no wrong outputs, only texts that it finds less likely.
    if (recipe.task().reads_running_text())
      commands.emplace_back(fmt::format("heed evaluate {} --valid", model), "see how well it predicts other text");
    else
      commands.emplace_back(fmt::format("heed evaluate {} --valid --errors", model), "see what it gets wrong");
  }
  commands.emplace_back(fmt::format("heed export {} --output {}", model, file), "write it to one file");
  size_t widest = 0;
  for (const auto& [command, meaning] : commands) widest = std::max(widest, command.size());
  std::string text = "What next:\n";
  for (const auto& [command, meaning] : commands) text += fmt::format("  {:<{}}  {}\n", command, widest, meaning);
  return text;
}

std::string ending_text(const train::Finished& f, const recipe::Recipe& recipe, const TrainArguments& c) {
  const std::string folder = recipe.output.folder;
  std::string text;
  switch (f.ending) {
    case train::Ending::stopped:
      return fmt::format("stopped after update {} and saved. To resume: {}\n", f.step, command_to_go_on(c, folder));
    case train::Ending::patience:
      text = fmt::format("no better model in {}", counted(recipe.stop.patience, "validation"));
      break;
    default:
      text = "finished";
  }
  text += fmt::format(" after {} and {}", counted(f.step, "update"), duration_text(f.seconds));
  if (!f.best.empty())
    text += fmt::format("; the best model is {}, with {} {:.4f}", (std::filesystem::path(folder) / f.best).string(),
                        f.metric, f.best_value);
  return text + "\n" + what_next(recipe);
}

/// Where the time of the updates went, the largest share first.
std::string profile_text(const Profile& profile) {
  std::vector<std::pair<double, std::string>> parts;
  double other = profile.all;
  for (size_t i = 0; i < kWorkNames.size(); ++i) {
    parts.emplace_back(profile.seconds[i], kWorkNames[i]);
    other -= profile.seconds[i];
  }
  parts.emplace_back(other, "other");
  std::sort(parts.rbegin(), parts.rend());
  std::string text = fmt::format("\nwhere the {} of the updates went:\n", duration_text(profile.all));
  for (const auto& [seconds, name] : parts)
    if (seconds > 0) text += fmt::format("  {:5.1f} %  {}\n", 100.0 * seconds / profile.all, name);
  return text;
}

/// The whole recipe, with the values that would be chosen for open keys if the data can be read.
std::string shown(recipe::Recipe recipe, const TrainArguments& c) {
  try {
    std::optional<trained::TrainedModel> weights;
    if (!c.from.empty()) weights = load_model({.folder = c.from});
    recipe = train::prepare(recipe, {.weights = weights ? &*weights : nullptr, .weights_name = c.from, .timed = true})
                 .recipe;
  } catch (const recipe::RecipeError&) {
    throw;
  } catch (const Error& error) {
    warn(fmt::format("the data cannot be used, so keys that depend on it are shown with their defaults: {}",
                     error.what()));
  }
  std::string text = recipe::text_of(recipe), attentions;
  try {
    for (const attend::Made& made : train::attentions_of(recipe))
      attentions += fmt::format("#   {}: {}\n", made.name, train::description_of(made.options));
  } catch (const recipe::RecipeError&) {  // with the data it may make a model
  }
  return attentions.empty() ? text : text + "\n# What each attention of this model does:\n" + attentions;
}

void run(const TrainArguments& c) {
  const auto [recipe, seen] = recipe_of(c);
  if (c.show) return print(shown(recipe, c));
  const Terminal terminal;
  const StopSignal stop;
  const std::filesystem::path folder = recipe.output.folder;
  ProgressView view(terminal);
  train::Log log(folder / "log.jsonl", recipe.output.log_every);
  train::EventFile events(folder, recipe.output.log_every);
  Profile profile;
  const train::Finished finished = train::run_session(recipe, {.resume = c.resume,
                                                               .from = c.from,
                                                               .seen = seen,
                                                               .stop = &stop.asked(),
                                                               .observers = {&view, &log, &events},
                                                               .profile = c.profile ? &profile : nullptr});
  print(ending_text(finished, recipe, c));
  if (c.profile && profile.all > 0) print(profile_text(profile));
}

std::string help() {
  std::string text = R"(Examples:
  heed train pairs.tsv                      pairs separated by a tab; settings are chosen to fit the data
  heed train train.en train.de              two files, line by line (plain or gzip)
  heed train pairs.tsv --set model.kind=transformer --set stop.minutes=10
  heed train new.tsv --from pairs-model     fine-tune a trained model on new pairs
  heed train recipe.toml                    train with a recipe
  heed train --resume --output pairs-model  resume after Ctrl-C, a crash or a power cut

Keys that a recipe leaves out are chosen to fit the data, printed, and written to recipe.toml in the output folder.
A complete recipe:

)";
  text += recipe::example();
  text += R"(
heed train RECIPE --show prints every key with its meaning and value, including the chosen ones. File names are relative
to data.folder: heed train recipe.toml --set data.folder=corpora/multi30k

The output folder holds the best checkpoint and the last ones, recipe.toml, log.jsonl, and event files for
tensorboard --logdir FOLDER. Ctrl-C saves and ends; --resume continues as if nothing had happened.)";
  return text;
}

}  // namespace

void add_train(Program& program) {
  auto c = std::make_shared<TrainArguments>();
  Verb verb = program.verb("train", "Train a model from pairs of lines");
  verb.option("DATA", c->files,
              "Pairs separated by a tab; or two files, SOURCE and TARGET; or a recipe (TOML) that names them. "
              "Optional with --resume and --output")
      .value("");
  verb.option("--set", c->overrides, "Set a key of the recipe; may be repeated").sets_keys();
  verb.option("--output", c->output, "Output folder (default: output.folder of the recipe, or DATA-model)")
      .value("FOLDER");
  verb.option("--from", c->from, "Start from the weights of this model; new tokens are added to its vocabularies")
      .value("MODEL");
  verb.flag("--resume", c->resume, "Resume from the newest good checkpoint of the folder");
  add_threads(verb);
  verb.flag("--profile", c->profile, "Report at the end which kinds of work took the time");
  verb.flag("--show", c->show, "Print the whole recipe, including the values that would be chosen, and stop");
  verb.footer(help());
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
