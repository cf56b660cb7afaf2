// Layouts: everything in its place, nothing outside of the drawing, texts in any script.
#include "heed/view/draw.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/text/columns.h"
#include "heed/view/svg.h"
#include "tests/base/folder.h"

namespace heed::view {
namespace {

template <class Kind>
std::vector<Kind> all_of(const Drawing& drawing) {
  std::vector<Kind> found;
  for (const Shape& shape : drawing.shapes)
    if (const auto* one = std::get_if<Kind>(&shape)) found.push_back(*one);
  return found;
}

std::vector<Fill> fills(const Drawing& drawing, Ink ink) {
  std::vector<Fill> found = all_of<Fill>(drawing);
  std::erase_if(found, [&](const Fill& fill) { return fill.ink != ink; });
  return found;
}

const Label& label(const std::vector<Label>& labels, const std::string& text) {
  const auto found = std::find_if(labels.begin(), labels.end(), [&](const Label& l) { return l.text == text; });
  if (found == labels.end()) throw Error("there is no label '" + text + "'");
  return *found;
}

/// The room of every label and every box lies within the drawing.
void expect_inside(const Drawing& drawing) {
  const auto inside = [&](const Box& box, const std::string& what) {
    EXPECT_GE(box.x, 0) << what;
    EXPECT_GE(box.y, 0) << what;
    EXPECT_LE(box.x + box.width, drawing.width) << what;
    EXPECT_LE(box.y + box.height, drawing.height) << what;
  };
  for (const Fill& fill : all_of<Fill>(drawing)) inside(fill.box, "fill");
  for (const Image& image : all_of<Image>(drawing)) inside(image.box, "image");
  for (const Label& l : all_of<Label>(drawing)) {
    const int before = l.anchor == Anchor::start ? 0 : l.anchor == Anchor::middle ? l.room / 2 : l.room;
    if (l.turned)
      inside({l.x - kTextSize, l.y - l.room, kTextSize, l.room}, l.text);
    else
      inside({l.x - before, l.y - kTextSize, l.room, kTextSize}, l.text);
    EXPECT_GE(l.room, static_cast<int>(text::columns_of(l.text)) * (kTextColumn - 1)) << l.text;
  }
}

Example example_with(std::vector<Sequence> sequences, Map map) {
  Example example{.input = "in", .output = "out"};
  example.sequences = std::move(sequences);
  example.maps = {std::move(map)};
  return example;
}

TEST(Draw, AMatrixHasItsCellsWhereItsLabelsAre) {
  const Drawing drawing = drawing_of(Matrix{.title = "t",
                                            .columns = {"dog", "runs", "."},
                                            .rows = {"hund", "läuft"},
                                            .weights = {1.0f, 0.25f, 0.0f, -0.25f, NAN, 4.0f},
                                            .caption = "attention of a long name that is wider than the cells",
                                            .legend = true});
  expect_inside(drawing);
  const std::vector<Label> labels = all_of<Label>(drawing);
  std::vector<Fill> on = fills(drawing, Ink::on);
  const Label &dog = label(labels, "dog"), &runs = label(labels, "runs"), &hund = label(labels, "hund");
  ASSERT_GE(on.size(), 3u);
  EXPECT_DOUBLE_EQ(on[0].opacity, 1.0);
  EXPECT_DOUBLE_EQ(on[1].opacity, 0.5);  // the square root
  EXPECT_DOUBLE_EQ(on[2].opacity, 1.0);  // 4 is shown as 1
  for (const auto& [fill, column] : {std::pair(on[0], dog), std::pair(on[1], runs)}) {
    EXPECT_LE(fill.box.x, column.x);
    EXPECT_GE(fill.box.x + fill.box.width, column.x);
    EXPECT_GT(fill.box.y, column.y);
    EXPECT_TRUE(column.turned);
    EXPECT_LE(fill.box.y, hund.y);
    EXPECT_GE(fill.box.y + fill.box.height, hund.y);
  }
  EXPECT_LT(hund.x, on[0].box.x);
  EXPECT_EQ(fills(drawing, Ink::off).size(), 3u);  // one cell, and two of the legend
  label(labels, "0.25");
  label(labels, "-0.25");
}

TEST(Draw, SingleLettersStandUpright) {
  for (const std::vector<std::string>& columns : {std::vector<std::string>{"a", " "}, {"北", "京"}}) {
    const Drawing drawing = drawing_of(Matrix{.title = "", .columns = columns, .rows = {"x"}, .weights = {0.5f, 0.5f}});
    expect_inside(drawing);
    for (const Label& l : all_of<Label>(drawing)) EXPECT_FALSE(l.turned) << l.text;
  }
}

TEST(Draw, LabelsOfAnyScriptAreCutBetweenLetters) {
  std::string marks, chinese;
  for (int i = 0; i < 40; ++i) {
    marks += "e\u0301";
    chinese += "學";
  }
  const Drawing drawing = drawing_of(
      Matrix{.title = "", .columns = {marks, chinese, "مرحبا"}, .rows = {chinese}, .weights = {0.1f, 0.2f, 0.3f}});
  expect_inside(drawing);
  for (const Label& l : all_of<Label>(drawing)) {
    EXPECT_LE(text::columns_of(l.text), 24u);
    EXPECT_EQ(l.text.find("\xEF\xBF\xBD"), std::string::npos);
  }
  std::string cut;
  for (int i = 0; i < 23; ++i) cut += "e\u0301";
  label(all_of<Label>(drawing), cut + "…");
}

Example two_sentences(const std::vector<std::string>& words) {
  Example example{.input = "a text", .output = "good"};
  for (const float weight : {0.25f, 0.75f}) {
    Sentence sentence{.weight = weight};
    float share = 0.1f;
    for (const std::string& word : words) sentence.words.push_back({word, share += 0.1f});
    example.sentences.push_back(sentence);
  }
  return example;
}

TEST(Draw, SentencesAndTheirWords) {
  const Drawing drawing = drawing_of(two_sentences({"it", "was", "good"}));
  expect_inside(drawing);
  const std::vector<Label> labels = all_of<Label>(drawing);
  label(labels, "25.0 %");
  label(labels, "75.0 %");
  const std::vector<Fill> sentences = fills(drawing, Ink::off), words = fills(drawing, Ink::on);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_NEAR(sentences[0].opacity * 3, sentences[1].opacity, 1e-6);
  ASSERT_EQ(words.size(), 6u);
  EXPECT_LT(words[0].opacity, words[1].opacity);
  EXPECT_LT(words[1].opacity, words[2].opacity);
  EXPECT_EQ(words[2].opacity, words[5].opacity);
  EXPECT_LT(words[2].opacity, 0.5);  // text on it stays readable
  EXPECT_LT(words[0].box.x, words[1].box.x);
  EXPECT_LT(words[2].box.y, words[3].box.y);
}

TEST(Draw, RightToLeftTextBeginsAtTheRight) {
  const std::vector<Fill> words = fills(drawing_of(two_sentences({"كان", "الفيلم", "رائعا"})), Ink::on);
  ASSERT_EQ(words.size(), 6u);
  EXPECT_GT(words[0].box.x, words[1].box.x);
  EXPECT_GT(words[1].box.x, words[2].box.x);
}

TEST(Draw, LongTextsAreBrokenIntoLines) {
  const Drawing drawing = drawing_of(two_sentences(std::vector<std::string>(100, "word")));
  expect_inside(drawing);
  EXPECT_LT(drawing.width, 800);
  EXPECT_GT(drawing.height, 200);
}

TEST(Draw, RowsOfAStructuredTextAreShadedTextsUnlessTheMatrixIsChosen) {
  const Example example = example_with({{"pooled", "pooled vector", {"1", "2"}}, {"source", "input", {"it", "was"}}},
                                       {.name = "text.pool",
                                        .label = "words that count",
                                        .queries = "pooled",
                                        .keys = "source",
                                        .heads = 1,
                                        .rows = 2,
                                        .columns = 2,
                                        .weights = {1.0f, 0.0f, 0.5f, 0.5f}});
  const Drawing shaded = drawing_of(example);
  expect_inside(shaded);
  label(all_of<Label>(shaded), "mean");
  const std::vector<Fill> words = fills(shaded, Ink::on);
  ASSERT_EQ(words.size(), 5u);  // the mean of both, row 1 without its zero, row 2
  EXPECT_NEAR(words[1].opacity / words[0].opacity, 1.0 / 3, 1e-6);
  const Drawing matrix = drawing_of(example, &example.maps[0]);
  EXPECT_EQ(fills(matrix, Ink::frame).size(), 6u);  // its own, and one for each colour of the legend
}

TEST(Draw, CellsOfAPicture) {
  Example example = example_with({{"target", "output", {"red", "</s>"}}, {"cells", "cells", {"1,1", "1,2"}}},
                                 {.name = "decoder.attention",
                                  .label = "attention to the picture",
                                  .queries = "target",
                                  .keys = "cells",
                                  .heads = 1,
                                  .rows = 2,
                                  .columns = 2,
                                  .weights = {0.8f, 0.2f, 0.0f, 1.0f}});
  example.picture = SeenPicture{.png = "bytes", .rows = 1, .columns = 2, .height = 30, .width = 101};
  const Drawing drawing = drawing_of(example);
  expect_inside(drawing);
  const std::vector<Image> images = all_of<Image>(drawing);
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].box.width, 192);
  EXPECT_EQ(images[0].box.height, 57);
  const std::vector<Fill> dark = fills(drawing, Ink::night);
  ASSERT_EQ(dark.size(), 2u);
  EXPECT_NEAR(dark[0].opacity, 0.8 * 0.75, 1e-6);
  EXPECT_EQ(dark[0].box.x, images[1].box.x + 96);
  EXPECT_NEAR(dark[1].opacity, 0.8, 1e-6);
  const std::vector<Outline> frames = all_of<Outline>(drawing);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].box.x, images[1].box.x);
  EXPECT_EQ(frames[1].box.x, images[2].box.x + 96);
  const std::string svg = svg_text(drawing, Colours::own);
  expect_part(svg, "href=\"data:image/png;base64,Ynl0ZXM=\"");
  EXPECT_EQ(svg.find("base64"), svg.rfind("base64"));  // once, however often it is shown
}

TEST(Draw, NothingToDraw) {
  expect_part(error_of([] { drawing_of(Example{.input = "a", .output = "b"}); }), "no attention");
}

}  // namespace
}  // namespace heed::view
