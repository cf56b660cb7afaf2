#include "cli/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>

#include "cli/example_picture.h"
#include "cli/example_text.h"
#include "cli/recipe_snippet.h"
#include "cli/terminal.h"
#include "cli/typeset.h"
#include "cli/usage.h"
#include "cli/worked_example.h"
#include "heed/base/error.h"

namespace heed::cli {

namespace {

constexpr const char* kGenerated = "<!-- generated from heed/attend by `make docs`; do not edit -->\n\n";
constexpr const char* kModelsGenerated =
    "<!-- generated from cli/model_catalogue.cc by `make docs`; do not edit -->\n\n";
constexpr size_t kColumns = 120;

/// A bar would end the table cell.
std::string cell(std::string_view text) {
  std::string safe;
  for (char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

std::string prose(const std::string& text) { return paragraph(text, 0, kColumns); }

std::string code(const char* language, const std::string& text) {
  return fmt::format("```{}\n{}```\n", language, text);
}

std::string option_table(const std::vector<OptionFact>& options) {
  std::string rows = "| option | type | default | meaning |\n|---|---|---|---|\n";
  for (const OptionFact& o : options) {
    const std::string by_name = o.by_name.empty() ? "" : fmt::format("; by name `{}`", o.by_name);
    rows += fmt::format("| `{}` | {} | `{}`{} | {} |\n", o.name, o.type, o.value, by_name, cell(o.meaning));
  }
  return rows;
}

std::string parameter_section(const Facts& facts) {
  std::vector<std::string> widths;
  for (const Setting& s : facts.sample) widths.push_back(fmt::format("`{} = {}`", s.name, s.value));
  if (facts.parameters.empty()) return "None.\n";
  std::string text = prose(fmt::format("With {}:", fmt::join(widths, ", ")));
  text += "\n| parameter | shape |\n|---|---|\n";
  for (const ParameterFact& p : facts.parameters) text += fmt::format("| `{}` | {} |\n", p.name, shape_text(p.shape));
  return text;
}

std::string usage_section(const Facts& facts) {
  const char* name = facts.entry->name;
  const std::string recipe =
      facts.recipe.empty() ? prose(without_recipe(*facts.entry)) : "In a recipe:\n\n" + code("toml", facts.recipe);
  return recipe + "\nOn the command line:\n\n" +
         code("sh", fmt::format("heed explain {0}\nheed explain {0} --html {0}.html\nheed mechanisms {0}\n", name)) +
         "\nIn Python:\n\n" + code("python", python_usage(facts)) + "\nIn C++:\n\n" + code("cpp", cpp_usage(facts));
}

/// The formula as mathematics, and as it can be typed.
std::string formula_section(const char* formula) {
  return code("math", tex_of(formula)) + "\n" + code("text", paragraph(formula, 0, kColumns));
}

/// From what the entry says of itself.
std::string shapes_of(const attend::Entry& entry) {
  const attend::Parts parts = attend::resolve(attend::options_of(entry.name, {}));
  const char* heads = parts.structure->has_heads ? "H, " : "";
  if (parts.any(&attend::Entry::own_queries))
    return fmt::format("Keys k [m, D] and values v [m, Dv]; weights a [{}r, m] of its own queries; contexts c [r, Dv].",
                       heads);
  return fmt::format(
      "Queries q [n, D], keys k [m, D] and values v [m, Dv] of a sequence; scores e and weights a [{}n, m]; contexts c "
      "[n, Dv].",
      heads);
}

constexpr size_t kWordsInNumbers = 3;

std::string example_section(const attend::Entry& entry) {
  const WorkedExample few = worked_example(entry, {.words = kWordsInNumbers});
  if (!few.refused.empty()) return fmt::format("None: {}.\n", few.refused);
  return fmt::format("{}\n{}\n![weights of a sentence: keys across, queries down]({}.svg)\n",
                     prose("Words as vectors of two numbers; the picture has the whole sentence. All numbers and "
                           "the picture come from the library."),
                     code("text", example_text(few)), entry.name);
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ErrorKind::cannot_write, fmt::format("{} could not be written", path.string()));
}

std::filesystem::path made_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::cannot_write, fmt::format("{} could not be created: {}", folder, failed.message()));
  return folder;
}

}  // namespace

std::string page(const Facts& facts) {
  const attend::Entry& e = *facts.entry;
  std::string text = kGenerated;
  text += fmt::format("# {}: {}\n\n", e.name, e.title);
  text += fmt::format("{} {} of [the catalogue](README.md)", e.id, attend::name_of(e.part));
  if (!facts.aliases.empty()) text += fmt::format("; also called `{}`", fmt::join(facts.aliases, "`, `"));
  text += ".\n\n" + formula_section(e.formula) + "\n" + prose(e.page);
  text += fmt::format("\n{}", prose(fmt::format("Paper: {}.", e.paper)));
  text += "\n## Shapes\n\n" + prose(shapes_of(e));
  text += "\n## Worked example\n\n" + example_section(e);
  text += "\n## Cost\n\n" + fmt::format("- time: `{}`\n- memory: `{}`\n\n", e.time, e.memory);
  text += prose(kCostLetters);
  text += "\n## Options\n\n";
  text += facts.options.empty() ? "None.\n" : option_table(facts.options);
  text += "\nOptions that every attention has are in [the list of all options](README.md#all-options).\n";
  text += "\n## Parameters\n\n" + parameter_section(facts);
  text += "\n## Combines with\n\n" + prose(e.combines);
  text += "\n## Use\n\n" + usage_section(facts);
  return text;
}

std::string index_page() {
  std::string text =
      std::string(kGenerated) + "# The catalogue of mechanisms\n\n" +
      paragraph(
          "An attention is made of parts: a score, a way to turn scores into weights, a region, a behaviour "
          "over time, an input and a structure. Every part is chosen by its name, and the parts combine. "
          "A combination that makes no sense is refused, with every reason. `heed mechanisms` prints this list, "
          "`heed mechanisms NAME` one page of it.",
          0, kColumns);
  for (attend::Part part : kParts) {
    text += fmt::format("\n## {}\n\n`{} = \"..\"`\n\n| id | name | title | formula |\n|---|---|---|---|\n",
                        heading_of(part), attend::name_of(part));
    for (const attend::Entry* e : attend::all())
      if (e->part == part)
        text +=
            fmt::format("| {0} | [{1}]({1}.md) | {2} | `{3}` |\n", e->id, e->name, cell(e->title), cell(e->formula));
  }
  text += "\n## Letters\n\n" + prose(kCostLetters);
  text += prose("Axes and symbols: [docs/notation.md](../notation.md).");
  return text + "\n## All options\n\n" + option_table(all_options());
}

void write_pages(const std::string& folder) {
  const std::filesystem::path root = made_folder(folder);
  write(root / "README.md", index_page());
  for (const attend::Entry* e : attend::all()) {
    write(root / (std::string(e->name) + ".md"), page(facts_of(*e)));
    if (const std::string picture = example_picture(*e, {}); !picture.empty())
      write(root / (std::string(e->name) + ".svg"), picture);
  }
}

std::string page(const ModelPage& model) {
  std::string text = fmt::format("{}# {}: {}\n\n{} of [the models](README.md).\n\n", kModelsGenerated, model.name,
                                 model.title, model.id);
  text += formula_section(model.formula) + "\n" + prose(model.page);
  if (*model.picture) text += fmt::format("\n![{}](../pictures/{})\n", model.title, model.picture);
  text += fmt::format("\n{}", prose(fmt::format("Paper: {}.", model.paper)));
  text += "\n## Shapes\n\n" + prose(fmt::format("{}.", model.shapes));
  text += "\n## Cost\n\n" + prose(fmt::format("{}.", model.cost));
  return text + "\n## Use\n\n" + code("sh", fmt::format("{}\nheed explain {}\n", model.command, model.name));
}

void write_model_pages(const std::string& folder) {
  const std::filesystem::path root = made_folder(folder);
  std::string index = std::string(kModelsGenerated) + "# Models, training and decoding\n\n" +
                      prose(
                          "What the mechanisms of [the catalogue](../mechanisms/README.md) are built into. `heed "
                          "explain NAME` prints a page of these.") +
                      "\n| id | page | what |\n|---|---|---|\n";
  for (const ModelPage& model : model_pages()) {
    index += fmt::format("| {0} | [{1}]({1}.md) | {2} |\n", model.id, model.name, cell(model.title));
    write(root / (std::string(model.name) + ".md"), page(model));
  }
  write(root / "README.md", index);
}

}  // namespace heed::cli
