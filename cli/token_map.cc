#include "cli/token_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/columns.h"
#include "cli/heat_map.h"

namespace heed::cli {

namespace {

constexpr size_t kTallest = 14;  // letters of a label that is written from top to bottom
constexpr size_t kWidest = 20;   // columns of a label at the side

bool is_one_letter(const std::string& token) {
  const std::vector<Letter> letters = letters_as_seen(token);
  return letters.size() == 1 && letters.front().last == 1;
}

/// The letters of a label, from top to bottom.
std::vector<std::string> letters_of(const std::string& token) {
  std::vector<std::string> letters;
  for (const Letter& letter : letters_as_seen(shown_token(token))) letters.push_back(letter.text);
  if (letters.size() > kTallest) {
    letters.resize(kTallest);
    letters.back() = "…";
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
  const std::vector<float> all = map.of_head(head);
  std::vector<std::vector<float>> weights;
  for (auto row = all.begin(); row != all.end(); row += map.columns) weights.emplace_back(row, row + map.columns);

  if (std::all_of(keys.begin(), keys.end(), is_one_letter)) {
    AlignmentPicture picture{.source = {}, .rows = queries, .weights = weights};
    for (const std::string& key : keys) picture.source += key;
    return heat_map(picture, terminal);
  }

  WeightMap shown{.columns = {}, .rows = queries, .weights = weights};
  for (size_t i = 0; i < keys.size(); ++i)
    shown.columns.push_back({.label = letters_of(keys[i]), .first = i, .last = i + 1});
  return weight_map(shown, terminal);
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
