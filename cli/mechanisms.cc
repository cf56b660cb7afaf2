// heed mechanisms: the catalogue, as a list, a single entry, JSON or pages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/facts.h"
#include "cli/facts_json.h"
#include "cli/markdown.h"
#include "cli/options.h"
#include "cli/recipe_snippet.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::cli {

namespace {

using file::Json;

struct MechanismsArguments {
  std::string name, part, folder;
  bool json = false, names = false;
};

std::vector<const attend::Entry*> entries_of(const std::string& part) {
  std::vector<const attend::Entry*> found;
  for (const attend::Entry* e : attend::all())
    if (part.empty() || part == attend::name_of(e->part)) found.push_back(e);
  return found;
}

// ------------------------------------------------------------------------------------------------------------- text

std::string list_text(const std::string& only, const Terminal& terminal) {
  constexpr size_t kRoomForFormulas = 130;  // columns that hold the titles and most formulas on one line
  const bool formulas = terminal.width() >= kRoomForFormulas;
  std::string text;
  for (attend::Part part : kParts) {
    if (!only.empty() && only != attend::name_of(part)) continue;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", terminal.bold(heading_of(part)));
    // The same widths in all tables, so that the columns line up across the parts.
    std::vector<Row> rows;
    for (const attend::Entry* e : attend::all()) {
      if (e->part != part) continue;
      Row row = {e->id, fmt::format("{:<19}", e->name)};
      row.push_back(formulas ? fmt::format("{:<40}", e->title) : e->title);
      if (formulas) row.emplace_back(e->formula);
      rows.push_back(std::move(row));
    }
    text += table(rows, terminal, 1);
  }
  text +=
      "\n" + paragraph("heed mechanisms NAME shows one: formula, cost, options and parameters.", 0, terminal.width());
  return text;
}

std::string section(const char* title, const std::string& body, const Terminal& terminal) {
  return body.empty() ? "" : fmt::format("\n{}\n{}", terminal.bold(title), body);
}

std::string one_text(const Facts& facts, const Terminal& terminal) {
  const attend::Entry& e = *facts.entry;
  const size_t width = terminal.width();
  std::string text = fmt::format("{}  {}\n", terminal.bold(e.name), e.title);
  std::string what = fmt::format("{} {}", e.id, attend::name_of(e.part));
  if (!facts.aliases.empty()) what += fmt::format(", also called {}", fmt::join(facts.aliases, ", "));
  text += terminal.faint(what) + "\n\n" + paragraph(e.formula, 4, width) + "\n" + paragraph(e.page, 0, width);
  text += section("Paper", paragraph(e.paper, 2, width), terminal);

  text += section(
      "Cost",
      table({{"time", e.time}, {"memory", e.memory}}, terminal, 9) + terminal.faint(paragraph(kCostLetters, 2, width)),
      terminal);
  text += section("Combines with", paragraph(e.combines, 2, width), terminal);

  std::vector<Row> options;
  for (const OptionFact& o : facts.options) {
    const std::string by_name = o.by_name.empty() ? "" : fmt::format(" ({} by name)", o.by_name);
    options.push_back({o.name, o.value + by_name, o.meaning});
  }
  text += section("Options and their defaults", table(options, terminal, 0), terminal);

  std::vector<std::string> sample;
  for (const Setting& s : facts.sample) sample.push_back(fmt::format("{} = {}", s.name, s.value));
  std::vector<Row> parameters;
  for (const ParameterFact& p : facts.parameters) parameters.push_back({p.name, shape_text(p.shape)});
  text += section("Parameters",
                  parameters.empty()
                      ? "  none\n"
                      : terminal.faint(paragraph(fmt::format("with {}", fmt::join(sample, ", ")), 2, width)) +
                            table(parameters, terminal, 0),
                  terminal);

  const std::string recipe = facts.recipe.empty() ? without_recipe(e) : facts.recipe;
  text += section("In a recipe", paragraph(recipe, 2, width), terminal);
  return text;
}

// -------------------------------------------------------------------------------------------------------------- run

void run(const MechanismsArguments& chosen) {
  if (!chosen.folder.empty()) return write_pages(chosen.folder);
  const Terminal terminal;
  if (!chosen.name.empty()) {
    const Facts facts = facts_of(attend::find(chosen.name));
    return print(chosen.json ? json_of(facts).text(2) + "\n" : one_text(facts, terminal));
  }
  const auto entries = entries_of(chosen.part);
  if (chosen.json) {
    Json all = Json::array();
    for (const attend::Entry* e : entries) all.push_back(json_of(facts_of(*e)));
    return print(all.text(2) + "\n");
  }
  if (chosen.names) {
    std::string text;
    for (const attend::Entry* e : entries) text += fmt::format("{}\n", e->name);
    return print(text);
  }
  print(list_text(chosen.part, terminal));
}

/// Each of these asks for a different kind of output.
void refuse_two_answers(const MechanismsArguments& c) {
  std::vector<const char*> asked;
  if (!c.name.empty()) asked.push_back("NAME");
  if (c.names) asked.push_back("--names");
  if (!c.folder.empty()) asked.push_back("--markdown");
  if (asked.size() > 1) throw Error(fmt::format("{} and {} cannot be combined", asked[0], asked[1]));
  if (asked.empty()) return;
  if (!c.part.empty() && !c.names) throw Error(fmt::format("{} and --part cannot be combined", asked[0]));
  if (c.json && c.name.empty()) throw Error(fmt::format("{} and --json cannot be combined", asked[0]));
}

constexpr const char* kHelp = R"(Examples:
  heed mechanisms                      every kind of attention, by part
  heed mechanisms --part score         only the scores
  heed mechanisms additive             formula, cost, options and parameters of one
  heed mechanisms additive --json      the same for programs)";

}  // namespace

void add_mechanisms(Program& program) {
  auto chosen = std::make_shared<MechanismsArguments>();
  Verb verb = program.verb("mechanisms", "List the kinds of attention, or describe one");
  std::vector<std::string> parts;
  for (attend::Part part : kParts) parts.emplace_back(attend::name_of(part));
  std::vector<std::string> names;
  for (const attend::Entry* entry : attend::all()) names.emplace_back(entry->name);
  verb.option("NAME", chosen->name, "A mechanism, by name or alias").value("").offer(names);
  verb.option("--part", chosen->part, fmt::format("Only one part: {}", fmt::join(parts, ", ")))
      .value("PART")
      .one_of("part", parts);
  add_json(verb, chosen->json);
  verb.flag("--names", chosen->names, "Only the names, one per line");
  verb.option("--markdown", chosen->folder, "Write a page for each mechanism, and an index, to a folder")
      .value("FOLDER");
  verb.footer(kHelp);
  verb.run([chosen] {
    refuse_two_answers(*chosen);
    run(*chosen);
  });
}

}  // namespace heed::cli
