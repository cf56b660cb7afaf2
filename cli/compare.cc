// heed compare: the same model with each attention, or with several values of any key, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/compare_view.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "cli/train_input.h"
#include "cli/verbs.h"
#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/compare/comparison.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSame[] = {"updates", "time"};

struct CompareArguments {
  std::vector<std::string> files;  // a recipe, the data, or the name of a built-in task
  compare::Request request;
  std::vector<std::string> overrides;
  double minutes = 0;
  std::string same = kSame[0];
  std::string output;
  bool resume = false;
};

recipe::Recipe recipe_of(const CompareArguments& c) {
  std::vector<std::string> settings = c.overrides;
  if (c.minutes > 0) settings.push_back(fmt::format("stop.minutes={}", c.minutes));
  return recipe_of_files(c.files, settings).recipe;
}

/// dates -> compare-dates, recipes/en-de.toml -> compare-en-de
fs::path folder_of(const CompareArguments& c) {
  if (!c.output.empty()) return c.output;
  fs::path name = fs::path(c.files.front()).filename();
  while (name.has_extension() && name.has_stem()) name = name.stem();
  return "compare-" + name.string();
}

compare::Same same_of(const CompareArguments& c) {
  return c.same == kSame[1] ? compare::Same::time : compare::Same::updates;
}

compare::Plan plan_of(const CompareArguments& c) {
  if (c.files.empty() && !(c.resume && !c.output.empty()))
    throw Error(c.resume ? "compare: --resume needs the folder of the comparison: heed compare --resume --output FOLDER"
                         : "compare: a recipe, data or the name of a built-in task is needed: heed compare RECIPE, "
                           "heed compare PAIRS.tsv, heed compare dates");
  if (!c.files.empty()) {
    const recipe::Recipe recipe = recipe_of(c);
    compare::check_request(recipe, c.request);
    std::optional<compare::PlanBase> base;
    if (c.resume) base = compare::settled_before(recipe, folder_of(c));
    return compare::make_plan(base ? *base : compare::settle(recipe, same_of(c)), c.request);
  }
  if (!c.request.attention.empty() || !c.request.over.empty() || !c.overrides.empty() || c.minutes > 0)
    throw Error(
        "compare: --resume without a recipe continues what the folder holds; other options need the recipe too");
  return compare::load_plan(c.output);
}

void run(const CompareArguments& c) {
  const compare::Plan plan = plan_of(c);
  const fs::path folder = folder_of(c);
  const Terminal terminal;
  const StopSignal stop;
  ComparisonView view(terminal);
  print(fmt::format("{} of {} can be compared, with {}: {} in '{}'\n", plan.runs() / std::ssize(plan.seeds),
                    counted(std::ssize(plan.variants), "variant"), counted(std::ssize(plan.seeds), "seed"),
                    counted(plan.runs(), "run"), folder.string()));
  const compare::Compared compared =
      compare::compare(plan, {.folder = folder, .resume = c.resume, .stop = &stop.asked(), .observer = &view});
  view.erase();
  if (!compared.table.metric.empty())
    print("\n" + comparison_text(compared.table, terminal, terminal.interactive() ? terminal.width() - 1 : 200));
  for (const compare::Row& row : compared.table.rows)
    if (!row.reason.empty()) print(paragraph(fmt::format("{}: {}", row.name, row.reason), 0, terminal.width()));
  if (compared.stopped)
    return print(fmt::format("\nstopped after {} of {}, and saved. To resume: heed compare --resume --output {}\n",
                             compared.table.done, counted(compared.table.runs, "run"), folder.string()));
  print(fmt::format("\nwrote {0}.html, {0}.md, {0}.csv and {0}.json\n", (folder / "compare").string()));
}

constexpr const char* kHelp = R"(Examples:
  heed compare dates                                     every attention of the catalogue, on the built-in task
  heed compare pairs.tsv --attention additive,dot,local_p --seeds 3 --minutes 1
  heed compare recipe.toml --attention additive,additive+sparsemax,multi_head
  heed compare recipe.toml --over model.width=64,128 --over model.cell=gru,lstm
  heed compare --resume --output compare-dates           after Ctrl-C, a crash or a power cut

Every variant is trained from the same recipe, with the same data and the same number of updates ([stop]; of a limit in
minutes, as many as the recipe as it is makes in that time), and each model once, whatever its names. Open keys are
chosen once, for all. The output folder holds compare.html (a page with the table and a picture for each variant),
compare.md, compare.csv, compare.json, and a training folder for every run. A variant that the model cannot use is a
row with the reason.)";

}  // namespace

void add_compare(Program& program) {
  auto c = std::make_shared<CompareArguments>();
  Verb verb = program.verb("compare", "Train the same model with different attentions, and compare them");
  verb.option("DATA", c->files,
              "A recipe, data as for heed train, or the name of a built-in task. Optional with --resume and --output")
      .value("");
  std::vector<std::string> names;
  for (const attend::Entry* entry : attend::all()) names.emplace_back(entry->name);
  verb.option("--attention", c->request.attention,
              "Mechanisms to compare, several parts joined by + (default: all, unless --over is given)")
      .value("NAME,...")
      .repeated(',')
      .offer(names);
  verb.option("--over", c->request.over, "Compare values of a key; may be repeated for all combinations")
      .value("SECTION.KEY=VALUE,...")
      .repeated();
  verb.option("--seeds", c->request.seeds, "Runs of each variant, with different seeds (default 1)")
      .value("N")
      .from_to(int64_t{1}, compare::kMostSeeds);
  verb.option("--minutes", c->minutes, "Training time of the recipe as it is (default: [stop] of the recipe)")
      .value("M")
      .from_to(0.001, 1e6);
  verb.option(
          "--same", c->same,
          "What every run gets the same of, where the time is limited: updates (as many as the recipe as it is makes "
          "in that time; default) or time")
      .value("WHAT")
      .one_of("updates or time", {kSame[0], kSame[1]});
  verb.option("--set", c->overrides, "Set a key of the recipe for all variants; may be repeated").sets_keys();
  verb.option("--output", c->output, "Output folder (default compare-DATA)").value("FOLDER");
  verb.flag("--resume", c->resume, "Continue the comparison in the folder; variants and seeds may be added");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
