// For people: the table as Markdown.
#include <fmt/format.h>

#include "heed/compare/writers.h"

namespace heed::compare {

namespace {

/// A bar would end the cell, and a line break the table.
std::string markdown_cell(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
  return safe;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

}  // namespace

std::string markdown_text(const Plan& plan, const Table& table) {
  std::string text =
      fmt::format("# Comparison\n\n{} of {} runs; {}. The same recipe but for the settings of each row.\n\n",
                  table.done, table.runs, seeds_text(plan));
  const std::vector<std::string> titles = headings(table);
  text += markdown_row(titles) + "|---:|---|";
  for (size_t c = 2; c < titles.size(); ++c) text += "---:|";
  text += "\n";
  std::string others;
  for (const Row& row : table.rows) {
    if (row.runs > 0)
      text += markdown_row(cells(table, row));
    else
      others += fmt::format("- {}: {}\n", row.name, row.reason.empty() ? "still to come" : markdown_cell(row.reason));
  }
  if (!others.empty()) text += "\nWithout a value:\n\n" + others;
  text += "\n";
  for (const std::string& line : legend(table)) text += "- " + line + "\n";
  return text;
}

}  // namespace heed::compare
