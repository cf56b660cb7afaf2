// heed explain: one mechanism or model with a worked example, on the terminal, as JSON, or as a page with sliders.
#include "cli/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>

#include "cli/example_picture.h"
#include "cli/example_text.h"
#include "cli/markdown.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/base/nearest.h"

namespace heed::cli {

namespace {

struct ExplainArguments {
  std::string name, query, html, svg, folder;
  std::vector<std::string> set;
  bool json = false;
};

std::vector<float> numbers_of(const std::string& text) {
  std::vector<float> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    float number = 0;
    const auto [next, failed] = std::from_chars(at, end, number);
    expect(failed == std::errc() && (next == end || *next == ','), "--query {}: expected two numbers, such as 0.5,1.6",
           text);
    numbers.push_back(number);
    at = next + (next < end ? 1 : 0);
  }
  return numbers;
}

ExampleOptions example_options(const ExplainArguments& c) {
  ExampleOptions options;
  for (const std::string& setting : c.set) {
    const size_t equals = setting.find('=');
    expect(equals != std::string::npos && equals > 0, "--set {}: expected OPTION=VALUE, such as window=2", setting);
    options.set.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  if (!c.query.empty()) options.query = numbers_of(c.query);
  return options;
}

std::string lines_of(const std::string& formula) {
  std::string lines;
  for (size_t at = 0; at < formula.size();) {
    const size_t end = std::min(formula.find("  ", at), formula.size());
    lines += "    " + formula.substr(at, end - at) + "\n";
    at = std::min(formula.find_first_not_of(' ', end), formula.size());
  }
  return lines;
}

std::string part(const Terminal& terminal, const std::string& title, const std::string& body) {
  return fmt::format("\n{}\n{}", terminal.bold(title), body);
}

std::string mechanism_text(const Facts& facts, const WorkedExample& example, const Terminal& terminal) {
  const attend::Entry& e = *facts.entry;
  std::string text = fmt::format("{}  {}\n\n", terminal.bold(e.name), e.title) + lines_of(e.formula) + "\n";
  text += paragraph(e.page, 0, terminal.width());
  text += part(terminal, "A worked example, computed by the library", "");
  return text + example_text(example) + part(terminal, "Paper", paragraph(e.paper, 2, terminal.width())) + "\n" +
         terminal.faint(paragraph(fmt::format("heed mechanisms {0}: options and parameters. heed explain {0} --html "
                                              "FILE: a page with sliders.",
                                              e.name),
                                  0, terminal.width()));
}

std::string model_text(const ModelPage& page, const Terminal& terminal) {
  const size_t width = terminal.width();
  return fmt::format("{}  {}\n\n", terminal.bold(page.name), page.title) + lines_of(page.formula) + "\n" +
         paragraph(page.page, 0, width) + part(terminal, "Shapes", paragraph(page.shapes, 2, width)) +
         part(terminal, "Cost", paragraph(page.cost, 2, width)) +
         part(terminal, "Paper", paragraph(page.paper, 2, width)) +
         part(terminal, "Try", paragraph(page.command, 2, 1000));
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const attend::Entry* entry : attend::all()) {
    names.emplace_back(entry->name);
    for (std::string& alias : attend::words(entry->aliases)) names.push_back(std::move(alias));
  }
  for (const ModelPage& page : model_pages()) names.emplace_back(page.name);
  return names;
}

void run(const ExplainArguments& c) {
  if (!c.folder.empty()) {
    expect(c.name.empty() && !c.json && c.html.empty() && c.svg.empty(),
           "--markdown writes the pages of all models: leave NAME out");
    return write_model_pages(c.folder);
  }
  const std::vector<std::string> names = all_names();
  expect(!c.name.empty(), "NAME is missing; heed mechanisms lists the kinds of attention, and models are: {}",
         fmt::join(std::vector<std::string>(names.end() - std::ssize(model_pages()), names.end()), ", "));
  if (std::find(names.begin(), names.end(), c.name) == names.end())
    throw Error(unknown_name("mechanism or model", c.name, names));
  expect((c.json ? 1 : 0) + (c.html.empty() ? 0 : 1) + (c.svg.empty() ? 0 : 1) < 2,
         "--json, --html and --svg cannot be combined");
  const ModelPage* model = find_model_page(c.name);
  if (model) {
    expect(c.set.empty() && c.query.empty() && c.svg.empty() && !c.json,
           "{} is a model: it has no example, and so no --set, --query, --svg or --json", c.name);
    if (!c.html.empty()) return file::write_file(c.html, explained_html(*model));
    return print(model_text(*model, Terminal()));
  }
  const Facts facts = facts_of(attend::find(c.name));
  ExampleOptions options = example_options(c);
  if (!c.html.empty()) return file::write_file(c.html, explained_html(facts, options));
  if (!c.svg.empty()) {
    const std::string picture = example_picture(*facts.entry, options);
    expect(!picture.empty(), "--svg: {} has no example: {}", facts.entry->name,
           worked_example(*facts.entry, options).refused);
    return file::write_file(c.svg, picture);
  }
  if (c.json) return print(explained_json(facts, worked_example(*facts.entry, options)).text(2) + "\n");
  options.words = 3;
  print(mechanism_text(facts, worked_example(*facts.entry, options), Terminal()));
}

constexpr const char* kHelp = R"(Examples:
  heed explain additive                  the formula, and three words in numbers
  heed explain local_p --set window=2 --set sigma=0.5
  heed explain local_p --html local.html    a page: move the query, the window, sigma, the temperature
  heed explain transformer_encoder       a model)";

}  // namespace

void add_explain(Program& program) {
  auto c = std::make_shared<ExplainArguments>();
  Verb verb = program.verb("explain", "Explain a kind of attention or a model by its formula and numbers");
  verb.option("NAME", c->name, "A mechanism or a model").value("").offer(all_names());
  verb.option("--set", c->set, "Change an option of the mechanism in the example; may be repeated")
      .value("OPTION=VALUE")
      .repeated();
  verb.option("--query", c->query, "Another query of the example: two numbers").value("X,Y");
  add_json(verb, c->json, "The example with six words as JSON");
  verb.option("--html", c->html, "Write a page with sliders; it needs nothing else").value("FILE");
  verb.option("--svg", c->svg, "Write the weights of the example as a picture").value("FILE");
  verb.option("--markdown", c->folder, "Write a page for each model, and an index, to a folder").value("FOLDER");
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
