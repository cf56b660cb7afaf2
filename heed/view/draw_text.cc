#include <algorithm>
#include <cmath>

#include "heed/text/columns.h"
#include "heed/view/draw.h"
#include "heed/view/layout.h"

namespace heed::view {

namespace {

constexpr int kWordLine = 22, kBox = 18, kPad = 3;      // pixels; kPad: of a box around its word
constexpr int kTextWidth = 84 * kTextColumn;            // of a line of words
constexpr size_t kLongestName = 16, kLongestWord = 40;  // columns
constexpr double kStrongest = 0.45;                     // more colour behind a word, and it cannot be read

struct PlacedWord {
  std::string text;
  int x = 0, line = 0, width = 0;  // x: from where its line begins
  double opacity = 0;
};

/// Lines of words.
struct PlacedText {
  std::vector<PlacedWord> words = {};
  bool right_to_left = false;  // each line begins at the right
  int width = 0, lines = 1;

  /// Where a word is, in a column of `room` pixels.
  int left_of(const PlacedWord& word, int room) const { return right_to_left ? room - word.x - word.width : word.x; }
};

PlacedText placed(const std::vector<Word>& words) {
  float most = 0;
  std::string all;
  for (const Word& word : words) {
    most = std::max(most, std::abs(word.weight));
    all += word.text + " ";
  }
  PlacedText found{.right_to_left = text::runs_right_to_left(all)};
  int x = 0;
  for (const Word& word : words) {
    PlacedWord one{.text = token_label(word.text, kLongestWord)};
    one.width = room_of(one.text) + 2 * kPad;
    if (x > 0 && x + one.width > kTextWidth) {
      x = 0;
      ++found.lines;
    }
    one.x = x;
    one.line = found.lines - 1;
    one.opacity = most > 0 ? kStrongest * static_cast<double>(std::abs(word.weight) / most) : 0.0;
    found.width = std::max(found.width, x + one.width);
    x += one.width + 2;
    found.words.push_back(std::move(one));
  }
  return found;
}

}  // namespace

Drawing drawing_of(const ShadedText& shaded) {
  std::vector<PlacedText> texts;
  size_t columns = 0;
  int room = 0;
  for (const Passage& passage : shaded.passages) {
    columns = std::max(columns, std::min(text::columns_of(passage.label), kLongestName));
    texts.push_back(placed(passage.words));
    room = std::max(room, texts.back().width);
  }
  const int label = columns > 0 ? static_cast<int>(columns) * kTextColumn + 2 * kPad : 0;
  const int left = columns > 0 ? label + 2 * kGap : kGap;
  Drawing drawing{.title = shaded.title, .width = left + room + kGap};
  int y = add_caption(drawing, shaded.caption) + kGap;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Passage& passage = shaded.passages[i];
    if (!passage.label.empty()) {
      if (passage.strength > 0)
        drawing.shapes.push_back(Fill{{kGap, y, label, kBox}, Ink::off, kStrongest * std::min(passage.strength, 1.0)});
      drawing.shapes.push_back(Label{.text = text::cut_to(passage.label, kLongestName),
                                     .x = kGap + label - kPad,
                                     .y = y + kBox - 5,
                                     .room = label - 2 * kPad,
                                     .anchor = Anchor::end});
    }
    for (const PlacedWord& word : texts[i].words) {
      const Box box{left + texts[i].left_of(word, room), y + word.line * kWordLine, word.width, kBox};
      if (word.opacity > 0.01) drawing.shapes.push_back(Fill{box, Ink::on, word.opacity});
      drawing.shapes.push_back(Label{.text = word.text,
                                     .x = box.x + box.width / 2,
                                     .y = box.y + kBox - 5,
                                     .room = box.width,
                                     .anchor = Anchor::middle});
    }
    y += texts[i].lines * kWordLine + kGap;
  }
  drawing.height = y;
  return drawing;
}

}  // namespace heed::view
