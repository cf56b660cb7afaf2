// heed demo: a model learns to read dates, and shows what it looks at.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/columns.h"
#include "cli/heat_map.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/sha256.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/date_forms.h"
#include "heed/data/dates.h"
#include "heed/predict/predictor.h"
#include "heed/text/metric/exact.h"
#include "heed/text/utf8.h"
#include "heed/train/recipe/of_model.h"
#include "heed/train/session.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

/// Reaches 99 % soonest on two cores; docs/performance.md says what else was tried.
constexpr const char* kRecipe = R"(
[data]
task = "dates"
examples = 60000
valid_examples = 500

[model]
kind = "rnn"
cell = "gru"
width = 128
dropout = 0.0

[attention]
score = "additive"

[train]
batch_tokens = 1024
learning_rate = 0.003
schedule = "cosine"
warmup = 50
label_smoothing = 0.0

[stop]
steps = 1000

[validate]
every = 250
decode = 200
samples = 2
longest = 20
)";

constexpr int64_t kUnseen = 2000;

struct DemoArguments {
  std::string folder;
  bool retrain = false;
  int64_t steps = 0;  // 0: as in the recipe
};

/// Where the model is kept. A new recipe, or a new ICU with other dates, gets a new folder.
std::filesystem::path cache_folder(int64_t steps) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base = cache && *cache ? std::filesystem::path(cache)
                                     : home && *home ? std::filesystem::path(home) / ".cache"
                                                     : std::filesystem::temp_directory_path();
  const std::string key = file::sha256(kRecipe + data::icu_version() + HEED_VERSION).substr(0, 12);
  return base / "heed" / fmt::format("dates-{}-{}", key, steps);
}

// ------------------------------------------------------------------------------------------------------------ training

void introduce(const recipe::Recipe& recipe, const Terminal& terminal) {
  print(paragraph(fmt::format("A small network with additive attention will learn to read dates in {} languages. It is "
                              "told nothing about months, years or alphabets: it sees only {} pairs like these.",
                              data::date_language_codes().size(), grouped(recipe.data.examples)),
                  1, std::min<size_t>(terminal.width(), 90)) +
        "\n");
  const data::Pairs some = data::example_dates();
  for (size_t i = 0; i < 3 && i < some.source.size(); ++i)
    print(fmt::format("     {}  {}  {}\n", isolated(some.source[i]), terminal.faint("→"), some.target[i]));
  print("\n");
}

/// What the newest good checkpoint says about the training run in the folder.
struct Kept {
  int64_t done = 0;        // updates; 0: no training run
  std::string other = {};  // why it is not the demo's, or unreadable
};

Kept kept_in(const std::filesystem::path& folder, const recipe::Recipe& recipe) {
  const file::RunFolder::Newest newest = file::RunFolder(folder).newest();
  if (!newest.checkpoint) return {.done = 0, .other = newest.damaged.empty() ? "" : newest.damaged.front().reason};
  recipe::Recipe before = recipe::of_checkpoint(*newest.checkpoint);
  const std::string changed = recipe::difference(recipe, before);
  recipe::Recipe mine = recipe;
  mine.stop = before.stop = {.steps = 1};
  mine.output = before.output = {};
  const bool same = recipe::differences(mine, before).empty();
  return {.done = newest.checkpoint->state().integer("step"),
          .other = same ? "" : "it is not the demo's: " + (changed.empty() ? "another recipe" : changed)};
}

/// Empty if the user stopped the training.
std::optional<predict::Predictor> train_or_load(const DemoArguments& c, const Terminal& terminal) {
  recipe::Recipe recipe = recipe::parse(kRecipe, "the demo's recipe");
  recipe.open.clear();  // keys that it leaves out take their defaults
  if (c.steps > 0) recipe.stop.steps = c.steps;
  const std::filesystem::path folder =
      c.folder.empty() ? cache_folder(recipe.stop.steps) : std::filesystem::path(c.folder);
  recipe.output.folder = folder.string();
  recipe.output.keep_last = 1;
  Kept kept = kept_in(folder, recipe);
  // Only what the demo made is removed; nobody else writes to its cache folder.
  if (!kept.other.empty() && !(c.folder.empty() && c.retrain))
    throw Error(ErrorKind::cannot_write,
                fmt::format("the training run in '{}' was left untouched: {}. {}", folder.string(), kept.other,
                            c.folder.empty() ? "--retrain trains again" : "Choose another --folder"));
  if (c.retrain) {
    file::RunFolder(folder).clear();
    kept = {};
  }
  const int64_t done = kept.done;
  if (done >= recipe.stop.steps) {
    print(paragraph(fmt::format("Using the model that was trained earlier, from {} pairs. --retrain trains it again.",
                                grouped(recipe.data.examples)),
                    1, std::min<size_t>(terminal.width(), 90)) +
          "\n");
    return predict::load(folder, "last");
  }
  if (done == 0) introduce(recipe, terminal);
  const StopSignal stop;
  ProgressView view(terminal, {.checkpoints = false});
  const train::Finished finished =
      train::run_session(recipe, {.resume = true, .stop = &stop.asked(), .observers = {&view}});
  if (finished.ending == train::Ending::stopped) {
    print(" Stopped and saved: heed demo continues from here.\n");
    return {};
  }
  return predict::load(folder, "last");
}

/// kUnseen different texts: the same text may be drawn twice, so a few more are drawn.
data::References unseen_dates() {
  data::References dates =
      data::group_references(data::date_pairs(kUnseen + kUnseen / 10, /*seed=*/7, {.split = data::Split::test}));
  expect(std::ssize(dates.source) >= kUnseen, ErrorKind::bug, "demo: only {} different dates", dates.source.size());
  dates.source.resize(kUnseen);
  dates.targets.resize(kUnseen);
  return dates;
}

void show_accuracy(const predict::Predictor& predictor, const Terminal& terminal) {
  const data::References unseen = unseen_dates();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> outputs;
  for (predict::Prediction& p : predictor.predict_all(unseen.source, {.alignments = false}))
    outputs.push_back(p.text());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const metric::Accuracy right = metric::exact_match(outputs, unseen.targets);
  print(fmt::format(" {} dates it has never seen: {} ({} wrong), {} per second\n\n", grouped(right.count),
                    terminal.bold(fmt::format("{:.2f} % right", 100.0 * right.rate())), right.count - right.right,
                    grouped(std::llround(static_cast<double>(right.count) / std::max(seconds, 1e-3)))));
}

// ------------------------------------------------------------------------------------------------------------- answers

/// One date, and where the model looked for it.
std::string answer(const predict::Predictor& predictor, const std::string& text, const Terminal& terminal) {
  const predict::Prediction found = predictor.predict(text);
  if (found.nbest.empty())
    return fmt::format("  No answer: {}.\n", found.error.empty() ? "the line is empty" : found.error);
  const predict::Output& best = found.nbest.front();
  AlignmentPicture picture{.source = text, .rows = {}, .weights = best.alignment};
  for (const std::string_view character : text::CodePoints(best.text)) picture.rows.emplace_back(character);
  const double sure = std::exp(best.log_probability);
  const std::string doubt = sure < 0.9 ? terminal.faint(fmt::format("   ({:.0f} % sure)", 100.0 * sure)) : "";
  return fmt::format("\n  {}  →  {}{}\n\n{}", isolated(text), terminal.bold(best.text), doubt,
                     heat_map(picture, terminal));
}

std::string answer_or_complaint(const predict::Predictor& predictor, std::string text, const Terminal& terminal) {
  constexpr size_t kLongest = 200;
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of(" \t"));
  if (text::utf8_fault(text) != std::string::npos) return "  That is not UTF-8.\n";
  if (text::utf8_count(text) > kLongest) return fmt::format("  That is longer than {} characters.\n", kLongest);
  return answer(predictor, text, terminal);
}

/// Standard input has something to read, or will soon. A program that starts heed may leave it open and never write.
bool input_is_there() {
  constexpr int kPatience = 1000;  // milliseconds
  pollfd in{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&in, 1, kPatience) > 0 && (in.revents & POLLIN) != 0;
}

void answer_lines(const predict::Predictor& predictor, const Terminal& terminal) {
  const bool typed = isatty(STDIN_FILENO) != 0;
  const data::Pairs examples = data::example_dates();
  int64_t answered = 0;
  const auto show = [&](const std::string& text) {
    print(answer_or_complaint(predictor, text, terminal));
    ++answered;
  };
  if (typed && terminal.interactive()) {
    show(examples.source.front());
    print(
        paragraph("\nEach row is a character that it wrote; the bright cells show what it was reading. Now you: type a "
                  "date, in words or numbers, in any of its languages. Enter alone shows another example, Ctrl-D ends.",
                  1, std::min<size_t>(terminal.width(), 90)));
    size_t next = 1;
    for (std::string line; print("\n" + terminal.bold(" a date> ")), std::getline(std::cin, line);)
      show(line.find_first_not_of(" \t\r") != std::string::npos ? line
                                                                : examples.source[next++ % examples.source.size()]);
    return print("\n");
  }
  if (!typed && input_is_there())
    for (std::string line; std::getline(std::cin, line);)
      if (line.find_first_not_of(" \t\r") != std::string::npos) show(line);
  if (answered == 0)
    for (const std::string& text : examples.source) show(text);
}

void run(const DemoArguments& c) {
  const Terminal terminal;
  print("\n " + terminal.bold("heed demo: dates in any language → ISO 8601") + "\n\n");
  const std::optional<predict::Predictor> predictor = train_or_load(c, terminal);
  if (!predictor) return;
  show_accuracy(*predictor, terminal);
  answer_lines(*predictor, terminal);
}

}  // namespace

void add_demo(Program& program) {
  auto c = std::make_shared<DemoArguments>();
  Verb verb = program.verb("demo", "See it work: train a model that reads dates, then try it");
  verb.flag("--retrain", c->retrain, "Train again, even if there is a trained model");
  verb.option("--folder", c->folder, "Where to keep the model (default: the user's cache)").value("FOLDER");
  add_threads(verb);
  verb.option("--steps", c->steps, "Training updates; fewer are faster, but worse (default 1000)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  verb.footer(
      "The model is trained once, in about a minute on two cores, and kept.\n"
      "Dates may also come from a pipe: echo '5 mars 2024' | heed demo");
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
