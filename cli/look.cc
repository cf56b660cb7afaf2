// heed look: what a model attends to, on the terminal or in files.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/beam_tree.h"
#include "cli/counter.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "cli/pictures.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/token_map.h"
#include "cli/verbs.h"
#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/model/search/search_tree.h"
#include "heed/view/draw.h"
#include "heed/view/json.h"
#include "heed/view/look.h"
#include "heed/view/page.h"

namespace heed::cli {

namespace {

struct LookArguments {
  ModelChoice model;
  std::vector<std::string> lines;  // none: standard input
  std::string target;              // empty: what the model writes
  SearchChoice search;
  std::string attention;  // the name of one; empty: the one that a reader wants first
  int64_t head = 0;       // from 1; 0: the mean of all
  std::string rows;       // "3-7"; empty: all
  int64_t max_weights = view::Shown().weights;
  bool list = false, tree = false, checkpoints = false;
  std::string svg, png, html, json;  // files; empty: none
  double scale = kUsualScale;

  bool to_file() const { return !svg.empty() || !png.empty() || !html.empty() || !json.empty(); }
};

constexpr size_t kMostLines = 1000;  // a page with more is too large to open

std::vector<std::string> lines_of(const LookArguments& c) {
  if (!c.lines.empty()) return c.lines;
  std::vector<std::string> all;
  InputFiles input({});
  for (std::vector<InputLines::Line> lines; !(lines = input.next(64)).empty();)
    for (InputLines::Line& line : lines) all.push_back(std::move(line.text));
  expect(!all.empty(), "there is no text: give some after the model, or on standard input");
  expect(all.size() <= kMostLines, "{} lines are too many to look at: at most {}", all.size(), kMostLines);
  return all;
}

const view::Map& chosen_map(const view::Example& example, const LookArguments& c) {
  const view::Map* map = c.attention.empty() ? example.main_map() : example.find(c.attention);
  if (!map) {
    std::vector<std::string> names;
    for (const view::Map& each : example.maps) names.push_back(each.name);
    if (c.attention.empty()) throw Error("this model has no attention: there is nothing to look at");
    throw Error(complaint("attention of this model", c.attention, names) + "; --list shows all");
  }
  expect(c.head <= map->heads, "--head {}: {} has {}", c.head, map->name, map->heads);
  return *map;
}

std::string drawn(const view::Example& example, const LookArguments& c, const Terminal& terminal) {
  std::string text =
      terminal.bold(example.output) + terminal.faint(fmt::format("  log p {:.3f}", example.log_probability)) + "\n";
  if (c.list) {
    std::vector<Row> rows;
    for (const view::Map& map : example.maps)
      rows.push_back({map.name, fmt::format("{}: {} {}, {} x {}", map.label, map.heads,
                                            map.heads == 1 ? "head" : "heads", map.rows, map.columns)});
    return text + table(rows, terminal, 2);
  }
  if (c.tree) return text + beam_tree(example, terminal);
  if (c.attention.empty() && !example.sentences.empty()) return text + shaded_text(example, terminal);
  const view::Map& map = chosen_map(example, c);
  return text + terminal.faint(view::heading_of(map, c.head - 1)) + "\n" +
         token_map(example, map, c.head - 1, terminal);
}

view::Drawing drawing_of(const view::Example& example, const LookArguments& c) {
  const view::Map& map = chosen_map(example, c);
  return view::drawing_of(example, c.attention.empty() ? nullptr : &map, c.head - 1);
}

/// "3-7" or "3"
void read_rows(const std::string& text, view::Shown& shown) {
  const size_t dash = text.find('-');
  const std::string first = text.substr(0, dash), last = dash == std::string::npos ? first : text.substr(dash + 1);
  const auto number = [&](const std::string& digits) {
    constexpr size_t kMostDigits = 9;
    const bool good = !digits.empty() && digits.size() <= kMostDigits &&
                      digits.find_first_not_of("0123456789") == std::string::npos && std::stoll(digits) > 0;
    expect(good, "--rows '{}': rows are counted from 1, as in 3-7", text);
    return std::stoll(digits);
  };
  shown.first_row = number(first);
  shown.last_row = number(last);
  expect(shown.first_row <= shown.last_row, "--rows '{}': the first one comes first, as in 3-7", text);
}

/// `used`: weights that a page has already. Where a drawing needs one head, it needs to know of all.
view::Shown shown_of(const LookArguments& c, int64_t used) {
  view::Shown shown{.weights = c.max_weights - used};
  if (!c.attention.empty() && !c.list) shown.attentions = {c.attention};
  if (c.head > 0 && c.to_file() && c.svg.empty() && c.png.empty()) shown.heads = {c.head};
  if (!c.rows.empty()) read_rows(c.rows, shown);
  return shown;
}

int64_t weights_of(const view::Document& document) {
  int64_t count = 0;
  for (const view::Example& example : document.examples)
    for (const view::Map& map : example.maps) count += std::ssize(map.weights);
  return count;
}

/// One line, with its search tree if that was asked for.
view::Example looked_at(const std::string& line, const predict::Predictor& predictor, const LookArguments& c,
                        const view::Shown& shown) try {
  search::SearchTree tree;
  predict::Options options = c.search.options;
  if (c.tree) options.tree = &tree;
  view::Example example =
      view::look(predictor, line, c.target.empty() ? std::nullopt : std::optional(c.target), options, shown);
  expect(!c.tree || example.beam, ErrorKind::data,
         "the search has {} nodes: --tree draws at most {}; a smaller --beam fits", tree.nodes.size(),
         view::kLargestTree);
  return example;
} catch (const view::TooManyWeights& error) {
  throw Error(error.kind(),
              fmt::format("{}: choose one of them with --attention, or allow more with --max-weights", error.what()));
}

void check_tree(const LookArguments& c, const predict::Predictor& predictor) {
  if (!predictor.model().task().writes())
    throw Error("--tree shows what a search considered; this model does not write, so nothing is searched for");
  expect(!c.list && c.attention.empty() && c.head == 0,
         "--tree draws the search instead of an attention: leave --list, --attention and --head out");
  search::SearchTree none;
  predict::Options options = c.search.options;
  options.tree = &none;
  check(options, predictor);
}

/// "looked.svg", and with several lines "looked-1.svg", "looked-2.svg", ...
std::filesystem::path numbered(const std::string& name, size_t number, size_t count) {
  std::filesystem::path path(name);
  if (count == 1) return path;
  return path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string());
}

/// Where to draw what, while lines are looked at.
struct Output {
  const LookArguments& c;
  std::optional<PngFiles>& png;
  const Terminal& terminal;
  size_t files;  // in which a drawing is one
};

/// All lines by one model, or by one checkpoint of it, into the document. False: nobody reads on.
bool look_at(const std::vector<std::string>& lines, const predict::Predictor& predictor, const Output& to,
             view::Document& document) {
  const LookArguments& c = to.c;
  const auto model = std::ssize(document.models) - 1;
  Counter counter("lines");
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t number = static_cast<size_t>(model) * lines.size() + i + 1;
    try {
      document.examples.push_back(looked_at(lines[i], predictor, c, shown_of(c, weights_of(document))));
      view::Example& example = document.examples.back();
      example.model = model;
      if (!c.svg.empty()) write_svg(numbered(c.svg, number, to.files), drawing_of(example, c));
      if (to.png) to.png->write(numbered(c.png, number, to.files), drawing_of(example, c));
    } catch (const Error& error) {
      if (lines.size() == 1 || error.kind() != ErrorKind::data) throw;
      counter.erase();
      warn(fmt::format("line {}: {}", i + 1, error.what()));
      continue;
    }
    if (!c.to_file()) {
      const std::string name = c.checkpoints ? document.models.back().name + "\n" : "";
      print((number > 1 ? "\n" : "") + name + drawn(document.examples.back(), c, to.terminal));
    }
    if (c.to_file()) counter.add(1);
    if (c.html.empty() && c.json.empty()) document.examples.clear();
    if (reader_is_gone()) return false;
  }
  counter.erase();
  return true;
}

void run(LookArguments& c) {
  if (!c.html.empty() && view::page_html().empty())
    throw Error("this heed was built without the page, because npm was missing: --svg and --json work without it");
  std::optional<PngFiles> png;
  if (!c.png.empty()) png.emplace(c.scale);
  const std::vector<std::string> lines = lines_of(c);
  expect(c.target.empty() || lines.size() == 1, "--target is for one text, not for {}", lines.size());
  const std::vector<std::string> checkpoints =
      c.checkpoints ? checkpoints_in_order(c.model.folder) : std::vector{c.model.checkpoint};
  view::Document document;
  const Terminal terminal;
  const Output to{c, png, terminal, lines.size() * checkpoints.size()};
  for (const std::string& checkpoint : checkpoints) {
    c.model.checkpoint = checkpoint;
    const predict::Predictor predictor(load_model(c.model));
    check(c.search.options, predictor);
    if (c.tree) check_tree(c, predictor);
    document.models.push_back(view::name_of(predictor, c.model.folder));
    view::ModelName& name = document.models.back();
    document.title = fmt::format("What {} attends to", name.name);
    if (c.checkpoints) name.name += ", " + checkpoint;
    if (!look_at(lines, predictor, to, document)) return;
  }
  if (!c.html.empty()) file::write_file(c.html, view::html_text(document));
  if (c.json == "-")
    print(view::json_of(document, view::Precision::exact).line() + "\n");
  else if (!c.json.empty())
    file::write_file(c.json, view::json_of(document, view::Precision::exact).line() + "\n");
}

constexpr const char* kHelp = R"(Examples:
  heed look dates-model "12. September 1984"
  heed look en-de "a dog runs ." --target "ein hund läuft ."       where it would look if it wrote this
  heed look en-de "a dog runs ." --list                            every attention inside the model
  heed look en-de "a dog runs ." --attention encoder.0.self --head 2
  heed look en-de "a dog runs ." --beam 4 --tree                   what the search considered, kept and dropped
  heed look en-de "a dog runs ." --html looked.html                all layers and heads, one file that opens offline
  heed look en-de "a dog runs ." --checkpoints --html learning.html    how it was learned: a slider over the checkpoints
  heed look en-de "a dog runs ." --png looked.png --scale 3
  heed look reviews-model --svg looked.svg < reviews.txt           looked-1.svg, looked-2.svg, ...

The text is answered as heed predict does it. Then the model reads its own answer, or --target, in one pass, and every
attention inside it shows its weights. Without a file, the terminal shows one of them: the last attention to the source,
the words and sentences that decided, or the last layer of a model of running text.)";

}  // namespace

void add_look(Program& program) {
  auto c = std::make_shared<LookArguments>();
  Verb verb = program.verb("look", "Show what a trained model attends to");
  add_model(verb, c->model);
  add_precision(verb, c->model);
  verb.option("TEXT", c->lines, "Text to answer, may be repeated (default: the lines of standard input)").value("");
  verb.flag("--checkpoints", c->checkpoints,
            "Look at every checkpoint of the training, the first one first; a page has a slider over them");
  verb.option("--target", c->target, "Look at this output (default: what the model answers)").value("TEXT");
  verb.option("--attention", c->attention, "Which attention to draw: a name that --list shows").value("NAME");
  verb.option("--head", c->head, "Which head to draw, counted from 1 (default: the mean of all)")
      .value("N")
      .from_to(int64_t{1}, task::kMostHeadsOfALayer);
  verb.option("--rows", c->rows, "Only these rows, counted from 1: 3-7 (default: all)").value("FIRST-LAST");
  verb.option("--max-weights", c->max_weights,
              "Refuse to compute more weights than this, which take about 16 bytes each (default 33554432)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1} << 40);
  verb.flag("--list", c->list, "List every attention inside the model instead of drawing one");
  verb.flag("--tree", c->tree, "Draw what the search considered, kept and dropped, with scores; usually with --beam");
  verb.option("--svg", c->svg, "Draw to this file; several texts are numbered").value("FILE");
  verb.option("--png", c->png, "The same as a PNG picture").value("FILE");
  add_scale(verb, c->scale);
  verb.option("--html", c->html,
              "Write one page, which opens without a network: all layers and heads, or --attention, --head, --rows")
      .value("FILE");
  verb.option("--json", c->json, "Write the same as JSON, with exact weights; - is standard output").value("FILE");
  add_search(verb, c->search);
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
