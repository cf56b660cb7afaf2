// heed train: from a recipe to a trained model.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string_view>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/recipe/recipe.h"
#include "heed/tensor/error.h"
#include "heed/tensor/profile.h"
#include "heed/train/event_file.h"
#include "heed/train/log.h"
#include "heed/train/session.h"

namespace heed::cli {

namespace {

struct Chosen {
  std::string recipe, output;
  std::vector<std::string> overrides;
  bool resume = false, show = false, profile = false;
};

recipe::Recipe recipe_of(const Chosen& c) {
  if (c.recipe.empty() && !c.resume)
    throw Error("train: a recipe is needed: heed train RECIPE. heed train --help shows one");
  if (c.recipe.empty() && c.output.empty())
    throw Error("train: --resume needs a recipe, or the folder of a training: heed train --resume --output FOLDER");
  std::error_code ignored;
  if (!c.recipe.empty() && !std::filesystem::exists(c.recipe, ignored))
    throw Error(ErrorKind::missing, fmt::format("there is no recipe '{}'", c.recipe));
  recipe::Recipe recipe =
      c.recipe.empty() ? train::recipe_of_folder(c.output, c.overrides) : recipe::read(c.recipe, c.overrides);
  if (!c.output.empty()) recipe.output.folder = c.output;
  return recipe;
}

/// As a shell reads it back.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The command that goes on with this training.
std::string command_to_go_on(const Chosen& c, const std::string& folder) {
  std::string command = "heed train ";
  if (!c.recipe.empty()) command += shell_quoted(c.recipe) + " ";
  for (const std::string& setting : c.overrides) command += "--set " + shell_quoted(setting) + " ";
  return command + "--resume --output " + shell_quoted(folder);
}

std::string ending_text(const train::Finished& f, const recipe::Recipe& recipe, const Chosen& c) {
  const std::string folder = recipe.output.folder;
  std::string text;
  switch (f.ending) {
    case train::Ending::stopped:
      return fmt::format("stopped after update {}, and saved. To go on: {}\n", f.step, command_to_go_on(c, folder));
    case train::Ending::patience:
      text = fmt::format("no better model in {} validations", recipe.stop.patience);
      break;
    default:
      text = "finished";
  }
  text += fmt::format(" after {} updates and {}", grouped(f.step), duration_text(f.seconds));
  if (!f.best.empty())
    text += fmt::format("; the best model is {}, with {} {:.4f}", (std::filesystem::path(folder) / f.best).string(),
                        recipe.validate.metric, f.best_value);
  return text + "\n";
}

/// What took the time of the updates, the most first.
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

void run(const Chosen& c) {
  const recipe::Recipe recipe = recipe_of(c);
  if (c.show) return print(recipe::text_of(recipe));
  const Terminal terminal;
  const StopSignal stop;
  const std::filesystem::path folder = recipe.output.folder;
  ProgressView view(terminal);
  train::Log log(folder / "log.jsonl", recipe.output.log_every);
  train::EventFile events(folder, recipe.output.log_every);
  Profile profile;
  const train::Finished finished = train::run_session(recipe, {.resume = c.resume,
                                                               .stop = &stop.asked(),
                                                               .observers = {&view, &log, &events},
                                                               .profile = c.profile ? &profile : nullptr});
  print(ending_text(finished, recipe, c));
  if (c.profile && profile.all > 0) print(profile_text(profile));
}

std::string help() {
  std::string text = "A recipe that runs as it is:\n\n";
  text += recipe::example();
  text += R"(
heed train RECIPE --show prints all that can be said in a recipe, with the defaults of this one. Names of files begin in
data.folder: heed train recipe.toml --set data.folder=corpora/multi30k

The folder of the result holds a checkpoint for the best model and the last ones, log.jsonl, and event files for
tensorboard --logdir FOLDER. Ctrl-C saves and ends; --resume goes on as if nothing had happened.)";
  return text;
}

}  // namespace

void add_train(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("train", "Train a model from pairs of lines, as a recipe says");
  verb.option("RECIPE", c->recipe, "A TOML file; with --resume and --output it may be left out").value("");
  verb.option("--set", c->overrides, "Another value for a key of the recipe; may be given again and again")
      .value("SECTION.KEY=VALUE")
      .repeated();
  verb.option("--output", c->output, "Folder for the result: output.folder").value("FOLDER");
  verb.flag("--resume", c->resume, "Go on from the newest good checkpoint in it");
  add_threads(verb);
  verb.flag("--profile", c->profile, "At the end, say what kind of work took the time");
  verb.flag("--show", c->show, "Print the whole recipe, defaults and --set included, and stop");
  verb.footer(help());
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
