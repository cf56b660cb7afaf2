// For people: one page with the table and a picture for each variant. Everything is in the file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "heed/base/atomic.h"
#include "heed/compare/writers.h"
#include "heed/view/draw.h"
#include "heed/view/svg.h"

namespace heed::compare {

namespace {

using view::escaped;

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1a1c20; --soft: #5c6370; --paper: #ffffff; --line: #dfe2e8; --band: #f4f6f9;
  --on: #b3261e; --off: #1f5fbf; --best: #e3f4e6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --soft: #9aa3b2; --paper: #14161a; --line: #2d323b; --band: #1b1f26; --on: #ffb45c;
    --off: #6cb2ff; --best: #16321f; } }
body { margin: 2rem auto; max-width: 78rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p, li, .soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:nth-child(2), td:nth-child(2) { text-align: left; font-weight: 600; }
th { cursor: pointer; color: var(--soft); font-weight: 600; background: var(--band); }
th:hover { color: var(--ink); }
th[data-up]::after { content: " \2191"; } th[data-down]::after { content: " \2193"; }
th:nth-child(2), td:nth-child(2) { position: sticky; left: 0; background: var(--paper); }
th:nth-child(2) { background: var(--band); }
tr.best td { background: var(--best); }
tr.worse td:last-child { color: var(--on); }
.pictures { display: flex; flex-wrap: wrap; gap: 1.6rem; align-items: flex-start; }
figure { margin: 0; max-width: 100%; }
figcaption { font-weight: 600; margin-bottom: .2rem; width: 0; min-width: 100%; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
figcaption span { font-weight: 400; color: var(--soft); }
svg text { fill: var(--ink); font: 11px ui-monospace, monospace; }
svg .frame { fill: var(--band); } svg .on { fill: var(--on); } svg .off { fill: var(--off); }
)css";

/// A click on a heading sorts by it, a second click the other way round. Cells without a value stay last.
constexpr const char* kScript = R"js(
document.querySelectorAll('th').forEach((head, column) => head.addEventListener('click', () => {
  const body = document.querySelector('tbody');
  const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const up = head.dataset.up !== 'yes';
  document.querySelectorAll('th').forEach(other => { delete other.dataset.up; delete other.dataset.down; });
  head.dataset[up ? 'up' : 'down'] = 'yes';
  const compare = (a, b) => {
    const x = value(a), y = value(b);
    if (x === '' || y === '') return (x === '') - (y === '');
    const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return up ? order : -order;
  };
  [...body.rows].sort(compare).forEach(row => body.append(row));
}));
)js";

std::string table_row(const Table& table, const Row& row) {
  const std::vector<std::string> texts = cells(table, row);
  const bool best = row.rank == 1, worse = row.adjusted_p && *row.adjusted_p < kSignificant;
  std::string html = fmt::format("<tr{}>", best ? " class=\"best\"" : worse ? " class=\"worse\"" : "");
  for (size_t c = 0; c < texts.size(); ++c) {
    std::string value;  // to sort by
    if (c >= 2 && c - 2 < row.means.size() && row.means[c - 2]) value = fmt::format("{}", row.means[c - 2]->mean);
    if (c + 1 == texts.size() && row.adjusted_p) value = fmt::format("{}", *row.adjusted_p);
    if (c + 1 == texts.size() && texts[c] == "best") value = "2";
    html +=
        fmt::format("<td{}>{}</td>", value.empty() ? "" : fmt::format(" data-value=\"{}\"", value), escaped(texts[c]));
  }
  return html + "</tr>\n";
}

std::string figure(const Table& table, const Row& row) {
  const std::vector<std::string> texts = cells(table, row);
  return fmt::format("<figure><figcaption>{} <span>{} {}; wrote {}</span></figcaption>\n{}</figure>\n",
                     escaped(row.name), escaped(table.metric_name), escaped(texts[2]), escaped(row.picture->output),
                     svg_text(*row.picture, row.name));
}

}  // namespace

std::string svg_text(const Picture& picture, const std::string& title) {
  view::Matrix matrix{.title = title, .columns = picture.source, .rows = picture.rows, .weights = {}};
  for (const std::vector<float>& row : picture.weights)
    matrix.weights.insert(matrix.weights.end(), row.begin(), row.end());
  return view::svg_text(view::drawing_of(matrix), view::Colours::page);
}

std::string html_text(const Plan& plan, const Table& table) {
  std::string rows, pictures, others, line, reference;
  for (const Row& row : table.rows) {
    if (row.runs == 0) {
      others += fmt::format("<li>{}: {}</li>\n", escaped(row.name),
                            row.reason.empty() ? "still to come" : escaped(row.reason));
      continue;
    }
    rows += table_row(table, row);
    if (!row.picture) continue;
    pictures += figure(table, row);
    if (line.empty()) {
      line = row.picture->line;
      reference = row.picture->reference;
    }
  }
  std::string titles, meanings;
  for (const std::string& title : headings(table)) titles += fmt::format("<th>{}</th>", escaped(title));
  for (const std::string& meaning : legend(table)) meanings += fmt::format("<li>{}</li>\n", escaped(meaning));

  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>heed compare</title>\n<style>{}</style></head>\n<body>\n<h1>Comparison of {} variants</h1>\n"
      "<p>{} of {} runs; {}. The same recipe but for the settings of each row. Click a heading to sort.</p>\n"
      "<div class=\"wide\"><table><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n<ul>\n{}</ul>\n",
      kStyle, plan.variants.size(), table.done, table.runs, seeds_text(plan), titles, rows, meanings);
  if (!pictures.empty())
    page += fmt::format(
        "<h2>Where each looked</h2>\n<p>One line of the validation data, <b>{}</b>, whose right answer is <b>{}</b>: "
        "its "
        "tokens across, the output's down. More colour is more weight.</p>\n<div class=\"pictures\">\n{}</div>\n",
        escaped(line), escaped(reference), pictures);
  if (!others.empty()) page += fmt::format("<h2>Without a value</h2>\n<ul>\n{}</ul>\n", others);
  page += fmt::format("<script>{}</script>\n</body></html>\n", kScript);
  return page;
}

void write_files(const Plan& plan, const Table& table, const Results& results, const std::filesystem::path& folder) {
  file::write_file(folder / "compare.json", json_text(plan, table, results));
  file::write_file(folder / "compare.csv", csv_text(table));
  file::write_file(folder / "compare.md", markdown_text(plan, table));
  file::write_file(folder / "compare.html", html_text(plan, table));
}

}  // namespace heed::compare
