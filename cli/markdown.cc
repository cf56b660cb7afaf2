#include "cli/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>

#include "cli/recipe_snippet.h"
#include "cli/terminal.h"
#include "heed/base/error.h"

namespace heed::cli {

namespace {

constexpr const char* kGenerated = "<!-- generated from heed/attend by `make docs`; do not edit -->\n\n";
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
  std::string cpp, python;
  for (const Setting& s : facts.sample) {
    if (s.name != "query_width" && s.name != "key_width") continue;
    cpp += fmt::format("{}.{} = {}", cpp.empty() ? "" : ", ", s.name, s.value);
    python += fmt::format(", {}={}", s.name, s.value);
  }
  const char* name = facts.entry->name;
  const std::string recipe =
      facts.recipe.empty() ? prose(without_recipe(*facts.entry)) : "In a recipe:\n\n" + code("toml", facts.recipe);
  return recipe + "\nOn the command line:\n\n" + code("sh", fmt::format("heed mechanisms {}\n", name)) +
         "\nIn Python:\n\n" + code("python", fmt::format("attention = heed.Attention(\"{}\"{})\n", name, python)) +
         "\nIn C++:\n\n" +
         code("cpp", fmt::format("heed::Parameters parameters;\n"
                                 "auto options = heed::attend::options_of(\"{}\", {{{}}});\n"
                                 "auto attention = heed::attend::make(parameters, options);\n",
                                 name, cpp));
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ErrorKind::cannot_write, fmt::format("{} could not be written", path.string()));
}

}  // namespace

std::string page(const Facts& facts) {
  const attend::Entry& e = *facts.entry;
  std::string text = kGenerated;
  text += fmt::format("# {}: {}\n\n", e.name, e.title);
  text += fmt::format("{} {} of [the catalogue](README.md)", e.id, attend::name_of(e.part));
  if (!facts.aliases.empty()) text += fmt::format("; also called `{}`", fmt::join(facts.aliases, "`, `"));
  text += ".\n\n" + code("text", paragraph(e.formula, 0, kColumns)) + "\n" + prose(e.page);
  text += fmt::format("\n{}", prose(fmt::format("Paper: {}.", e.paper)));
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
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::cannot_write, fmt::format("{} could not be created: {}", folder, failed.message()));
  const std::filesystem::path root(folder);
  write(root / "README.md", index_page());
  for (const attend::Entry* e : attend::all()) write(root / (std::string(e->name) + ".md"), page(facts_of(*e)));
}

}  // namespace heed::cli
