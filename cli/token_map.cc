#include "cli/token_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/columns.h"
#include "cli/heat_map.h"

namespace heed::cli {

namespace {

constexpr size_t kTallest = 14;     // letters of a label that is written from top to bottom
constexpr size_t kWidest = 20;      // columns of a label at the side
constexpr size_t kCellColumns = 2;  // looks like a square

bool is_one_letter(const std::string& token) {
  const std::vector<Letter> letters = letters_as_seen(token);
  return letters.size() == 1 && letters.front().last == 1;
}

std::vector<float> row_of(const view::Map& map, const std::vector<float>& weights, int64_t row) {
  const auto first = weights.begin() + row * map.columns;
  return {first, first + map.columns};
}

/// The letters of labels [begin, end) from top to bottom, the last ones next to the cells.
std::string vertical_labels(const std::vector<std::vector<Letter>>& labels, size_t begin, size_t end, size_t before) {
  size_t tallest = 0;
  for (size_t c = begin; c < end; ++c) tallest = std::max(tallest, labels[c].size());
  std::string text;
  for (size_t line = 0; line < tallest; ++line) {
    std::string row(before, ' ');
    for (size_t c = begin; c < end; ++c) {
      const size_t empty = tallest - labels[c].size();
      if (line < empty) {
        row += std::string(kCellColumns, ' ');
        continue;
      }
      const Letter& letter = labels[c][line - empty];
      row += letter.text + std::string(kCellColumns - std::min(letter.columns, kCellColumns), ' ');
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::vector<Letter> letters_of(const std::string& token) {
  std::vector<Letter> letters = letters_as_seen(shown_token(token));
  if (letters.size() > kTallest) {
    letters.resize(kTallest);
    letters.back() = {.text = "…", .columns = 1};
  }
  return letters;
}

}  // namespace

std::string shown_token(const std::string& token) { return token == " " ? "␣" : token; }

std::string token_map(const view::Example& example, const view::Map& map, int64_t head, const Terminal& terminal) {
  const std::vector<std::string>& keys = example.sequence(map.keys).tokens;
  std::vector<std::string> queries;
  for (const std::string& token : example.sequence(map.queries).tokens)
    queries.push_back(cut_to(shown_token(token), kWidest));
  const std::vector<float> weights = map.of_head(head);

  if (std::all_of(keys.begin(), keys.end(), is_one_letter)) {
    AlignmentPicture picture{.source = {}, .rows = queries, .weights = {}};
    for (const std::string& key : keys) picture.source += key;
    for (int64_t r = 0; r < map.rows; ++r) picture.weights.push_back(row_of(map, weights, r));
    return heat_map(picture, terminal);
  }

  std::vector<std::vector<Letter>> labels;
  labels.reserve(keys.size());
  for (const std::string& key : keys) labels.push_back(letters_of(key));
  size_t widest = 1;
  for (const std::string& query : queries) widest = std::max(widest, columns_of(query));
  const size_t before = widest + 4, room = terminal.width() > before ? terminal.width() - before : 0;
  const size_t at_once = std::max<size_t>(room / kCellColumns, 1);
  std::string text;
  for (size_t begin = 0; begin < keys.size(); begin += at_once) {
    const size_t end = std::min(begin + at_once, keys.size());
    text += (begin > 0 ? "\n" : "") + vertical_labels(labels, begin, end, before);
    for (int64_t r = 0; r < map.rows; ++r) {
      const std::string& query = queries[static_cast<size_t>(r)];
      text += std::string(2 + widest - columns_of(query), ' ') + terminal.bold(query) + "  ";
      for (size_t c = begin; c < end; ++c)
        text += weight_cell(weights[static_cast<size_t>(r * map.columns) + c], kCellColumns, terminal.colour());
      text += "\n";
    }
  }
  return text;
}

std::string shaded_text(const view::Example& example, const Terminal& terminal) {
  constexpr float kCounts = 1.5f;  // times as much as if all words counted alike, for a reader without colours
  std::string text;
  for (const view::Sentence& sentence : example.sentences) {
    text += example.sentences.size() > 1 ? fmt::format("  {:5.1f} %  ", 100 * sentence.weight) : "  ";
    const float alike = 1.0f / static_cast<float>(std::max<size_t>(sentence.words.size(), 1));
    for (const view::Word& word : sentence.words) {
      if (terminal.colour())
        text += on_weight(word.text, word.weight, true) + " ";
      else
        text += (word.weight >= kCounts * alike ? fmt::format("[{}]", word.text) : word.text) + " ";
    }
    text.back() = '\n';
  }
  return text;
}

}  // namespace heed::cli
