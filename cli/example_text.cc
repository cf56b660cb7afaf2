#include "cli/example_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/columns.h"

namespace heed::cli {

namespace {

constexpr size_t kCell = 13, kFirst = 18;

std::string number(float value) { return fmt::format("{:.2f}", value == 0 ? 0.0f : value); }

std::string vector(std::span<const float> values) {
  std::string text;
  for (const float value : values)
    text += (text.empty() ? "" : ", ") + fmt::format("{:.4g}", std::round(value * 100) / 100 + 0.0f);
  return fmt::format("({})", text);
}

std::string right(const std::string& text, size_t columns) {
  const size_t taken = columns_of(text);
  return std::string(columns > taken ? columns - taken : 0, ' ') + text;
}

std::string left(const std::string& text, size_t columns) {
  const size_t taken = columns_of(text);
  return text + std::string(columns > taken ? columns - taken : 1, ' ');
}

template <class Cell>
std::string line(const std::string& name, size_t cells, const Cell& cell) {
  std::string text = left(name, kFirst);
  for (size_t n = 0; n < cells; ++n) text += right(cell(n), kCell);
  return text + "\n";
}

std::string numbers_of(const NamedValues& p) {
  constexpr size_t kMost = 12;
  if (p.values.size() > kMost) {
    std::string shape;
    for (const int64_t size : p.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(size);
    return fmt::format("{} numbers, {}", p.values.size(), shape);
  }
  const size_t columns = p.shape.empty() ? 1 : static_cast<size_t>(p.shape.back());
  std::string text;
  for (size_t at = 0; at < p.values.size(); at += columns)
    text += (text.empty() ? "" : " ") + vector(std::span(p.values).subspan(at, columns));
  return text;
}

/// Those of recurrent networks are too many to follow.
std::string parameters_text(const std::vector<NamedValues>& all) {
  constexpr size_t kMostParameters = 9;
  size_t count = 0;
  for (const NamedValues& p : all) count += p.values.size();
  if (all.size() > kMostParameters)
    return fmt::format("{} parameters with {} numbers, drawn at random\n", all.size(), count);
  std::string text;
  for (const NamedValues& p : all) text += fmt::format("{}{}\n", left(p.name, kFirst + 8), numbers_of(p));
  return text;
}

/// c = sum of weights times values, where that is all that happens.
std::string sum_text(const WorkedExample& e, size_t query) {
  const std::vector<float>& rows = e.plain ? e.key_rows : e.value_rows;
  if (e.heads != 1 || e.width != 2 || e.options.project || e.options.project_output) return "";
  float sum[2] = {};
  std::string text;
  for (size_t k = 0; k < e.keys.size(); ++k) {
    const float weight = e.weight(0, query, k);
    for (size_t c = 0; c < 2; ++c) sum[c] += weight * rows[2 * k + c];
    text += fmt::format("{}{} {}", k ? " + " : "", number(weight), vector(std::span(rows).subspan(2 * k, 2)));
  }
  for (size_t c = 0; c < 2; ++c)
    if (std::fabs(sum[c] - e.context[2 * query + c]) > 1e-4f) return "";
  return text + "\n" + std::string(kFirst - 2, ' ') + "= ";
}

}  // namespace

std::string example_text(const WorkedExample& e) {
  if (!e.refused.empty()) return fmt::format("none: {}\n", e.refused);
  const size_t words = e.keys.size();
  const size_t query = std::min(kExampleQuery, e.queries.size() - 1);
  const auto row = [](const std::vector<float>& rows, size_t n) { return vector(std::span(rows).subspan(2 * n, 2)); };
  std::string text = line("", words, [&](size_t n) { return e.keys[n]; });
  text += line(e.plain ? "key and value" : "key", words, [&](size_t n) { return row(e.key_rows, n); });
  if (!e.plain) text += line("value", words, [&](size_t n) { return row(e.value_rows, n); });
  text += parameters_text(e.parameters);
  text += "\n";
  text += e.query_rows.empty() ? fmt::format("{}, which the mechanism makes itself\n", e.queries[query])
                               : fmt::format("query \"{}\" = {}\n", e.queries[query], row(e.query_rows, query));
  for (int64_t h = 0; h < e.heads; ++h) {
    const std::string of = e.heads > 1 ? fmt::format(", head {}", h + 1) : "";
    if (!e.scores.empty())
      text += line("score e" + of, words, [&](size_t n) {
        return number(e.scores[(static_cast<size_t>(h) * e.queries.size() + query) * words + n]);
      });
    text += line("weight a" + of, words, [&](size_t n) { return number(e.weight(h, query, n)); });
  }
  const size_t width = static_cast<size_t>(e.width);
  const size_t rows = e.context.size() / width;
  text += left("context c", kFirst - 2) + "= " + sum_text(e, query) +
          vector(std::span(e.context).subspan(std::min(query, rows - 1) * width, width)) + "\n";
  if (e.queries.size() > 1) {
    text += "\n" + std::string("weights of all queries\n");
    for (int64_t h = 0; h < e.heads; ++h)
      for (size_t q = 0; q < e.queries.size(); ++q)
        text += line(e.queries[q] + (e.heads > 1 ? fmt::format(", head {}", h + 1) : ""), words,
                     [&](size_t n) { return number(e.weight(h, q, n)); });
  }
  return text;
}

}  // namespace heed::cli
