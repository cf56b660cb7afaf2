// heed distill: training targets written anew by a trained model.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/counter.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/search_options.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "cli/train_input.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/distill/distill.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct DistillArguments {
  ModelChoice model;
  std::string recipe;
  std::vector<std::string> overrides;
  SearchChoice search;
  std::string output;
};

/// recipes/en-de.toml -> en-de-distilled
fs::path folder_of(const DistillArguments& c) {
  return c.output.empty() ? fs::path(fs::path(c.recipe).stem().string() + "-distilled") : fs::path(c.output);
}

void run(DistillArguments& c) {
  const recipe::Recipe recipe = recipe::read(readable(c.recipe), c.overrides);
  tell_notes(recipe);
  const predict::Predictor teacher(load_model(c.model));
  const bool parallel = teacher.model().model->parallel_generator() != nullptr;
  if (c.search.options.beam == 0 && !c.search.options.sample && !parallel) c.search.options.beam = c.search.usual_beam;
  check(c.search.options, teacher);
  const fs::path folder = folder_of(c);
  const StopSignal stop;
  std::optional<Counter> counter;
  int64_t done_before = 0, found_before = 0;
  const distill::Distilled done =
      distill::distill(teacher, recipe,
                       {.folder = folder,
                        .part = c.search.batch > 0 ? c.search.batch : distill::Options().part,
                        .search = c.search.options,
                        .stop = &stop.asked(),
                        .tell = [&](const distill::Progress& p) {
                          if (!counter) counter.emplace("pairs", p.pairs);
                          const int64_t found = p.found - found_before;
                          counter->skip(found);
                          if (p.done - done_before > found) counter->add(p.done - done_before - found);
                          done_before = p.done;
                          found_before = p.found;
                        }});
  counter.reset();
  for (const std::string& warning : done.warnings) warn(warning);
  const distill::Progress& p = done.progress;
  if (!done.complete)
    return print(fmt::format("stopped after {} of {}, and saved. To go on: the same command again\n", grouped(p.done),
                             counted(p.pairs, "pair")));
  if (p.found > 0) print(fmt::format("{} were done before\n", grouped(p.found)));
  print(fmt::format("{}: {} have another target now, {} kept theirs because the model has no answer\n",
                    counted(p.pairs, "pair"), grouped(p.changed), grouped(p.kept)));
  print(fmt::format("To train on them: heed train {}\n", (folder / "recipe.toml").string()));
}

constexpr const char* kHelp = R"(Examples:
  heed distill teacher parallel.toml --output distilled
  heed train distilled/recipe.toml

The recipe names the training data; its sources are answered by the model, with --beam 5 unless you say otherwise, and
the folder gets the pairs with the new targets, the pairs to validate on as they were, and the recipe for them. A source
that the model cannot answer (too long, no end, more than twice as long as its target) keeps its target. Ctrl-C keeps
what is done: the same command goes on.
Models that write all positions at once (model.decoder = "parallel") learn much better from such targets.)";

}  // namespace

void add_distill(Program& program) {
  auto c = std::make_shared<DistillArguments>();
  Verb verb = program.verb("distill", "Write the targets of training data anew with a trained model");
  add_model(verb, c->model);
  verb.option("RECIPE", c->recipe, "The recipe whose training data is answered").value("").required();
  verb.option("--output", c->output, "Output folder (default RECIPE-distilled)").value("FOLDER");
  verb.option("--set", c->overrides, "Set a key of the recipe; may be repeated").sets_keys();
  c->search.usual_beam = 5;
  add_search(verb, c->search);
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
