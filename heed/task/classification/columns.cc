#include "heed/task/classification/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/header.h"
#include "heed/data/lines.h"
#include "heed/data/plain_files.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

constexpr int64_t kLinesLookedAt = 5000;
constexpr int64_t kFewest = 20;                   // lines: fewer say nothing
constexpr int64_t kMostLabels = 500, kEach = 10;  // labels, and lines for each
constexpr int64_t kLongestLabel = 30;             // characters

struct Column {
  std::string name;   // in the first line, if that may name the columns; in small letters
  int64_t lines = 0;  // that have it
  int64_t characters = 0;
  int64_t words = 0;
  std::set<std::string, std::less<>> values;

  int64_t different() const { return std::ssize(values); }
};

std::string in_small_letters(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return low;
}

/// One short word.
bool may_be_name(std::string_view cell) {
  constexpr size_t kLongest = 40;
  return !cell.empty() && cell.size() <= kLongest && cell.find(' ') == std::string_view::npos;
}

/// "sentence_a" and "sentence_b", "text1" and "text2"; "premise" and "hypothesis".
bool are_names_of_two_texts(std::string_view first, std::string_view second) {
  if (first.size() < 2 || second.size() < 2) return false;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kPairs = {{{"premise", "hypothesis"},
                                                                                     {"text", "hypothesis"},
                                                                                     {"context", "hypothesis"},
                                                                                     {"claim", "evidence"},
                                                                                     {"evidence", "claim"},
                                                                                     {"question", "answer"},
                                                                                     {"question", "sentence"},
                                                                                     {"query", "document"},
                                                                                     {"query", "passage"},
                                                                                     {"sentence", "paraphrase"}}};
  for (const auto& [one, other] : kPairs)
    if (first == one && second == other) return true;
  const std::string_view stem = first.substr(0, first.size() - 1), other = second.substr(0, second.size() - 1);
  const char a = first.back(), b = second.back();
  return stem == other && ((a == 'a' && b == 'b') || (a == '1' && b == '2'));
}

std::vector<Column> look_at_columns(const std::filesystem::path& file, std::optional<bool> header) {
  data::expect_plain_file(file);
  data::LineReader lines(file);
  std::vector<Column> columns;
  for (std::string line; lines.number() < kLinesLookedAt && lines.next(line);) {
    const std::vector<std::string_view> values = data::columns_of(line);
    columns.resize(std::max(columns.size(), values.size()));
    if (lines.number() == 1 && std::all_of(values.begin(), values.end(), may_be_name))
      for (size_t i = 0; i < values.size(); ++i) columns[i].name = in_small_letters(values[i]);
    if (lines.number() == 1 && (header ? *header : data::names_columns(values))) continue;
    for (size_t i = 0; i < values.size(); ++i) {
      ++columns[i].lines;
      columns[i].characters += std::ssize(values[i]);
      text::for_each_word(values[i], [&](std::string_view) { ++columns[i].words; });
      columns[i].values.emplace(values[i]);
    }
  }
  return columns;
}

/// What is 0 in `found` is found in at least two columns.
LabelColumns find_columns(const std::vector<Column>& columns, LabelColumns found) {
  const auto best = [&](int64_t other, const auto& better) {
    int64_t at = -1;
    for (int64_t i = 0; i < std::ssize(columns); ++i)
      if (i + 1 != other && i + 1 != found.second &&
          (at < 0 || better(columns[static_cast<size_t>(i)], columns[static_cast<size_t>(at)])))
        at = i;
    return at + 1;
  };
  if (found.text == 0)
    found.text = best(found.label, [](const Column& a, const Column& b) { return a.characters > b.characters; });
  if (found.label == 0)
    found.label = best(found.text, [](const Column& a, const Column& b) {
      const bool constant = a.values.size() < 2, other = b.values.size() < 2;  // which says nothing
      return constant != other ? other : a.values.size() < b.values.size();
    });
  found.labels = columns[static_cast<size_t>(found.label - 1)].different();
  return found;
}

bool is_label(const Column& c, int64_t lines) {
  return lines >= kFewest && c.lines == lines && c.different() >= 2 && c.different() <= kMostLabels &&
         c.different() * kEach <= lines && c.characters <= kLongestLabel * lines;
}

// ----------------------------------------------------------------------------------------------------------- two texts

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

/// Lines of several words, not always the same ones.
bool is_text(const Column& c, int64_t lines) {
  constexpr int64_t kWords = 3;
  return c.lines == lines && c.words >= kWords * lines && c.different() * kEach > lines;
}

/// Neither is a title of the other: their lengths are alike.
bool are_alike(const Column& a, const Column& b) {
  constexpr int64_t kTimes = 3;
  return a.characters <= kTimes * b.characters && b.characters <= kTimes * a.characters;
}

LabelColumns two_texts_among(const std::vector<Column>& columns) {
  if (columns.size() < 3) return {};
  const int64_t lines = columns.back().lines;
  // The first of the names that say label; otherwise the column with the fewest values.
  LabelColumns found;
  const auto column = [&](int64_t from_1) -> const Column& { return columns[static_cast<size_t>(from_1 - 1)]; };
  for (int64_t i = 1; i <= std::ssize(columns); ++i) {
    if (!is_label(column(i), lines)) continue;
    const auto named = [&](int64_t at) {
      return has_word(column(at).name, {"label", "judgment", "judgement", "class", "category", "relation"});
    };
    if (found.label == 0 || (named(i) && !named(found.label)) ||
        (named(i) == named(found.label) && column(i).different() < column(found.label).different()))
      found.label = i;
  }
  if (found.label == 0) return {};
  found.labels = column(found.label).different();
  std::vector<int64_t> texts;
  for (int64_t i = 1; i <= std::ssize(columns); ++i)
    if (i != found.label && column(i).lines == lines && column(i).words > 0) texts.push_back(i);
  for (const int64_t first : texts)
    for (const int64_t second : texts)
      if (first != second && are_names_of_two_texts(column(first).name, column(second).name)) {
        found.text = first;
        found.second = second;
        return found;
      }
  std::erase_if(texts, [&](int64_t i) { return !is_text(column(i), lines); });
  const bool two = texts.size() == 2 && are_alike(column(texts[0]), column(texts[1])) &&
                   2 * std::max(column(texts[0]).different(), column(texts[1]).different()) >= lines;
  if (!two) return {};
  found.text = texts[0];
  found.second = texts[1];
  return found;
}

}  // namespace

LabelColumns find_columns(const data::PairFiles& files) {
  const LabelColumns given{.text = files.source_column, .label = files.target_column, .second = files.second_column};
  if (given.text > 0 && given.label > 0) return given;
  const std::vector<Column> columns = look_at_columns(files.tsv, files.header);
  expect(std::ssize(columns) >= (given.second > 0 ? 3 : 2), ErrorKind::data,
         "{}: a line is a text and a label with a tab between them, in any order; the first lines have {} column{}",
         files.tsv.string(), columns.size(), columns.size() == 1 ? "" : "s");
  const int64_t last = std::max({given.text, given.label, given.second});
  expect(last <= std::ssize(columns), ErrorKind::data, "{}: column {} is asked for, but the first lines have {}",
         files.tsv.string(), last, columns.size());
  return find_columns(columns, given);
}

LabelColumns columns_of_two_texts(const std::filesystem::path& tsv) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(tsv, ignored)) return {};
  return two_texts_among(look_at_columns(tsv, /*header=*/{}));
}

std::string looks_like_labels(const std::filesystem::path& tsv) {
  constexpr int64_t kShortestText = 25, kWords = 4;  // characters, words
  const std::vector<Column> columns = look_at_columns(tsv, /*header=*/{});
  if (columns.size() < 2) return "";
  if (const LabelColumns two = two_texts_among(columns); two.second > 0)
    return fmt::format("columns {} and {} are two texts, and column {} has {} different values on the first {} lines",
                       two.text, two.second, two.label, two.labels, columns.front().lines);
  const LabelColumns found = find_columns(columns, {});
  const Column &text = columns[static_cast<size_t>(found.text - 1)],
               &label = columns[static_cast<size_t>(found.label - 1)];
  const int64_t lines = columns.front().lines;
  const bool texts = text.lines == lines && text.characters >= kShortestText * lines && text.words >= kWords * lines &&
                     2 * std::ssize(text.values) >= lines;
  if (!is_label(label, lines) || !texts) return "";
  return fmt::format("column {} has {} different values on the first {} lines, and column {} is text", found.label,
                     found.labels, lines, found.text);
}

}  // namespace heed::task
