#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/example_text.h"
#include "cli/explain.h"
#include "cli/facts_json.h"
#include "cli/recipe_snippet.h"
#include "cli/typeset.h"
#include "cli/usage.h"
#include "heed/attend/settings.h"
#include "heed/base/error.h"
#include "heed/view/svg.h"

namespace heed::cli {

// Made by cli/CMakeLists.txt from cli/explain.
std::string_view explain_page_html();
std::string_view explain_style_css();
std::string_view explain_attention_js();
std::string_view explain_page_js();

namespace {

using file::Json;
using view::escaped;

Json rows_json(const std::vector<float>& values, size_t width) {
  Json rows = Json::array();
  for (size_t at = 0; at < values.size(); at += width)
    rows.push_back(Json::array(Json::Elements(values.begin() + static_cast<ptrdiff_t>(at),
                                              values.begin() + static_cast<ptrdiff_t>(at + width))));
  return rows;
}

/// [heads, queries, keys]
Json maps_json(const std::vector<float>& values, size_t queries, size_t keys) {
  Json maps = Json::array();
  for (size_t at = 0; at < values.size(); at += queries * keys)
    maps.push_back(rows_json(
        {values.begin() + static_cast<ptrdiff_t>(at), values.begin() + static_cast<ptrdiff_t>(at + queries * keys)},
        keys));
  return maps;
}

void add_example(Json& j, const WorkedExample& e) {
  j["refused"] = e.refused;
  j["keys"] = e.keys;
  j["queries"] = e.queries;
  j["plain"] = e.plain;
  j["key_rows"] = rows_json(e.key_rows, 2);
  j["query_rows"] = rows_json(e.query_rows, 2);
  j["value_rows"] = rows_json(e.value_rows, 2);
  Json options = Json::object(), parameters = Json::object();
  for (const attend::Setting& s : attend::values_of(e.options)) options[s.name] = json_value(s.value);
  for (const NamedValues& p : e.parameters)
    parameters[p.name] = Json::object({{"shape", p.shape}, {"values", p.values}});
  j["options"] = std::move(options);
  j["parameters"] = std::move(parameters);
  j["scores"] = maps_json(e.scores, e.queries.size(), e.keys.size());
  j["weights"] = maps_json(e.weights, e.queries.size(), e.keys.size());
  j["context"] = e.width > 0 ? rows_json(e.context, static_cast<size_t>(e.width)) : Json::array();
}

/// What the same sentence looks like under all mechanisms of a part; the weights of several heads as their mean.
Json others_json(attend::Part part) {
  Json all = Json::array();
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != part) continue;
    const WorkedExample e = worked_example(*entry, {});
    if (!e.refused.empty()) continue;
    std::vector<float> mean(e.queries.size() * e.keys.size());
    for (size_t n = 0; n < e.weights.size(); ++n) mean[n % mean.size()] += e.weights[n] / static_cast<float>(e.heads);
    all.push_back(Json::object({{"name", entry->name},
                                {"title", entry->title},
                                {"queries", e.queries},
                                {"keys", e.keys},
                                {"weights", rows_json(mean, e.keys.size())}}));
  }
  return all;
}

/// So that no text in it can end the element that holds it.
std::string inside_script(const std::string& json) {
  std::string safe;
  for (const char c : json) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

void put(std::string& page, const std::string& mark, std::string_view text) {
  const size_t at = page.find(mark);
  expect(at != std::string::npos, ErrorKind::bug, "explain: the page has no place for {}", mark);
  page.replace(at, mark.size(), text);
}

std::string whole_page(const std::string& title, const std::string& body, const std::string& facts) {
  std::string page(explain_page_html());
  put(page, "HEED_TITLE", escaped(title));
  put(page, "HEED_STYLE", explain_style_css());
  put(page, "HEED_FACTS", inside_script(facts));
  put(page, "HEED_ATTENTION", explain_attention_js());
  put(page, "HEED_SCRIPT", explain_page_js());
  put(page, "HEED_BODY", body);
  return page;
}

/// What stands between backticks is code.
std::string with_code(const std::string& text) {
  std::string html;
  bool inside = false;
  for (const char c : escaped(text)) {
    if (c == '`') {
      html += inside ? "</code>" : "<code>";
      inside = !inside;
    } else {
      html += c;
    }
  }
  return html + (inside ? "</code>" : "");
}

std::string prose(const std::string& text) {
  std::string html;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find("\n\n", at), text.size());
    html += fmt::format("<p>{}</p>\n", with_code(text.substr(at, end - at)));
    at = std::min(end + 2, text.size());
  }
  return html;
}

std::string head(const std::string& name, const std::string& title, const std::string& faint,
                 const std::string& formula) {
  return fmt::format("<h1>{}</h1>\n<p class=\"faint\">{} · {}</p>\n<div class=\"formula\">\n{}</div>\n", escaped(name),
                     escaped(title), escaped(faint), mathml_of(formula));
}

std::string code(const std::string& heading, const std::string& text) {
  return fmt::format("<p class=\"faint\">{}</p>\n<pre>{}</pre>\n", heading, escaped(text));
}

}  // namespace

Json explained_json(const Facts& facts, const WorkedExample& example) {
  const attend::Entry& e = *facts.entry;
  Json j = Json::object({{"id", e.id},
                         {"name", e.name},
                         {"part", attend::name_of(e.part)},
                         {"title", e.title},
                         {"formula", e.formula},
                         {"tex", tex_of(e.formula)},
                         {"reads", attend::words(e.options)}});
  add_example(j, example);
  return j;
}

std::string explained_html(const Facts& facts, const ExampleOptions& asked) {
  const attend::Entry& e = *facts.entry;
  ExampleOptions few = asked;
  few.words = 3;
  Json j = explained_json(facts, worked_example(e, asked));
  j["others"] = others_json(e.part);
  std::string body = head(e.name, e.title, fmt::format("{} {}", e.id, attend::name_of(e.part)), e.formula);
  body += prose(e.page);
  body += "<section id=\"try\">\n<h2>Try it</h2>\n<div class=\"lab\" id=\"lab\"></div>\n</section>\n";
  body += "<h2>Three words, in numbers</h2>\n<p class=\"faint\">Computed by the library.</p>\n<pre>" +
          escaped(example_text(worked_example(e, few))) + "</pre>\n";
  body += fmt::format(
      "<h2>The same sentence</h2>\n<p class=\"faint\">{}. Queries down, keys across.</p>\n"
      "<div class=\"others\" id=\"others\"></div>\n",
      escaped(heading_of(e.part)));
  body += fmt::format(
      "<h2>Cost and paper</h2>\n<p>time: <code>{}</code><br>memory: <code>{}</code></p>\n"
      "<p class=\"faint\">{}</p>\n<p>{}.</p>\n",
      escaped(e.time), escaped(e.memory), kCostLetters, escaped(e.paper));
  body += "<h2>Use</h2>\n" + code("In a recipe", facts.recipe.empty() ? without_recipe(e) : facts.recipe) +
          code("In Python", python_usage(facts)) + code("In C++", cpp_usage(facts));
  return whole_page(fmt::format("{}: {}", e.name, e.title), body, j.line());
}

std::string explained_html(const ModelPage& page) {
  std::string body = head(page.name, page.title, page.id, page.formula) + prose(page.page);
  body += fmt::format("<h2>Shapes</h2>\n<p>{}</p>\n", escaped(page.shapes));
  body += fmt::format("<h2>Cost and paper</h2>\n<p>{}</p>\n<p>{}.</p>\n", escaped(page.cost), escaped(page.paper));
  body += "<h2>Use</h2>\n<pre>" + escaped(page.command) + "</pre>\n";
  return whole_page(fmt::format("{}: {}", page.name, page.title), body, "{}");
}

}  // namespace heed::cli
