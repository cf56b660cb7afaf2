#include "heed/data/scenes.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "heed/data/overlay.h"
#include "heed/data/picture_source.h"
#include "tests/base/folder.h"

namespace heed::data {
namespace {

TEST(Scenes, AShapeStaysInItsPlace) {
  for (uint64_t number = 0; number < 200; ++number) {
    const Scene scene = scene_of(number);
    const Picture picture = draw(scene);
    ASSERT_EQ(picture.height, kScenePlaces * kScenePlacePixels);
    ASSERT_EQ(picture.width, picture.height);
    std::set<std::pair<int64_t, int64_t>> drawn, right;
    for (int64_t y = 0; y < picture.height; ++y)
      for (int64_t x = 0; x < picture.width; ++x)
        if (picture.pixel(y, x)[0] != 245 || picture.pixel(y, x)[1] != 245)
          drawn.emplace(y / kScenePlacePixels, x / kScenePlacePixels);
    for (const DrawnShape& shape : scene.shapes) {
      right.emplace(shape.row, shape.column);
      // Whole, inside its place.
      EXPECT_GE(shape.y - shape.radius, static_cast<double>(shape.row * kScenePlacePixels));
      EXPECT_LE(shape.x + shape.radius, static_cast<double>((shape.column + 1) * kScenePlacePixels));
    }
    EXPECT_EQ(drawn, right);
  }
}

TEST(Scenes, DifferentKindsInDifferentColumnsFromLeftToRight) {
  std::set<std::string_view> kinds, colours;
  std::set<std::string> captions;
  for (uint64_t number = 0; number < 300; ++number) {
    const Scene scene = scene_of(number);
    std::set<std::string_view> here;
    for (size_t i = 0; i < scene.shapes.size(); ++i) {
      here.insert(scene.shapes[i].kind);
      colours.insert(scene.shapes[i].colour);
      EXPECT_EQ(scene.shape(scene.shapes[i].kind), &scene.shapes[i]);
      if (i == 0) continue;
      EXPECT_LT(scene.shapes[i - 1].column, scene.shapes[i].column);
    }
    EXPECT_EQ(here.size(), scene.shapes.size());
    kinds.insert(here.begin(), here.end());
    captions.insert(scene.caption());
  }
  EXPECT_EQ(kinds.size(), 7u);
  EXPECT_EQ(colours.size(), 6u);
  EXPECT_GT(captions.size(), 290u);
}

TEST(Scenes, EveryKindHasAFormOfItsOwn) {
  std::map<std::string_view, std::set<std::vector<uint8_t>>> seen;
  for (uint64_t number = 0; number < 400; ++number) {
    const Scene scene = scene_of(number);
    const Picture picture = draw(scene);
    for (const DrawnShape& shape : scene.shapes) {
      std::vector<uint8_t> place;
      for (int64_t y = 0; y < kScenePlacePixels; ++y)
        for (int64_t x = 0; x < kScenePlacePixels; ++x)
          place.push_back(picture.pixel(shape.row * kScenePlacePixels + y, shape.column * kScenePlacePixels + x)[1]);
      for (const auto& [kind, forms] : seen)
        EXPECT_TRUE(kind == shape.kind || !forms.contains(place)) << kind << " and " << shape.kind;
      seen[shape.kind].insert(place);
    }
  }
}

TEST(Scenes, QuestionsAndCaptionsAreRight) {
  const Pairs questions = scene_questions(2000, 5, Split::train);
  int64_t absent = 0;
  for (size_t i = 0; i < questions.line.size(); ++i) {
    const auto [name, question] = cut_picture_question(questions.source[i]);
    ASSERT_TRUE(scene_number(name));
    const Scene scene = scene_of(*scene_number(name));
    absent += scene.shape(question) ? 0 : 1;
    EXPECT_EQ(scene.shape(question) ? scene.shape(question)->colour : "none", questions.target[i]);
  }
  EXPECT_NEAR(static_cast<double>(absent), 2000.0 / 8, 4 * 15);  // four standard deviations
  const Pairs captions = scene_captions(200, 5, Split::valid);
  for (size_t i = 0; i < captions.line.size(); ++i)
    EXPECT_EQ(scene_of(*scene_number(captions.source[i])).caption(), captions.target[i]);
  const Scene scene = scene_of(17);
  EXPECT_EQ(scene.caption(), "blue cross left of yellow circle left of green ring left of yellow triangle");
  EXPECT_EQ(scene.colour_of("circle"), "yellow");
  EXPECT_EQ(scene.colour_of("square"), "none");
}

TEST(Scenes, NoSceneIsInTwoSplits) {
  std::map<std::string, Split> where;
  for (const Split split : {Split::train, Split::valid, Split::test})
    for (const std::string& source : scene_questions(2000, 1, split).source) {
      const auto [found, is_new] = where.emplace(cut_picture_question(source).picture, split);
      EXPECT_EQ(found->second, split);
    }
}

TEST(Scenes, Names) {
  EXPECT_EQ(scene_number("scene:17"), 17u);
  EXPECT_EQ(scene_number(scene_name(~uint64_t{0})), ~uint64_t{0});
  for (const char* name : {"scene:", "scene:x", "scene:1x", "scene:-1", "scene:99999999999999999999", "a.png", ""})
    EXPECT_FALSE(scene_number(name)) << name;
  EXPECT_EQ(picture_named("scene:17").rgb, draw(scene_of(17)).rgb);
  EXPECT_EQ(picture_named("scene:17", {24, 24}).rgb, scaled(draw(scene_of(17)), {24, 24}).rgb);
  EXPECT_EQ(size_of_named("scene:17").width, 96);
  expect_part(error_of([] { picture_named("none.png"); }), "none.png");
}

// ---------------------------------------------------------------------------------------------------------------
// tables

TEST(PictureTables, ThreeColumnsOrTwo) {
  const Folder folder;
  const auto file = folder.write("x.tsv", "a.png\twhat\tred\n/b.png\twhere\tup\nscene:3\twho\tme\nc.png\t\tx\n");
  Report report;
  const Pairs asked = read_pairs({.tsv = file, .source_column = 2, .target_column = 3, .picture_column = 1}, report);
  const std::string beside = (folder / "a.png").string();
  EXPECT_EQ(asked.source, (std::vector<std::string>{beside + "\twhat", "/b.png\twhere", "scene:3\twho"}));
  EXPECT_EQ(asked.target, (std::vector<std::string>{"red", "up", "me"}));
  EXPECT_EQ(report.count(Fault::empty), 1);
  Report other;
  const Pairs captions = read_pairs({.tsv = file, .source_column = 0, .target_column = 3, .picture_column = 1}, other);
  EXPECT_EQ(captions.source.front(), beside);
  EXPECT_EQ(captions.size(), 4);
}

// --------------------------------------------------------------------------------------------------------------
// overlay

TEST(Overlay, TheCellWithTheMostWeightIsBrightAndFramed) {
  const Picture picture(60, 90, 200);
  const std::vector<float> weights = {0.1f, 0.0f, 0.2f, 0.05f, 0.6f, 0.05f};  // 2 x 3 cells of 30 x 30 pixels
  const Picture shown = lay_over(picture, weights, {2, 3});
  const auto light = [&](int64_t y, int64_t x) { return int{shown.pixel(y, x)[1]}; };
  EXPECT_EQ(light(45, 45), 200);                           // the middle of the cell
  EXPECT_EQ(light(15, 45), 40);                            // no weight: a fifth
  EXPECT_NEAR(light(15, 15), 200 * (0.2 + 0.8 / 6), 1.0);  // a sixth of the largest
  EXPECT_EQ(light(30, 30), 140);                           // the frame is orange
  EXPECT_EQ(shown.pixel(30, 30)[0], 255);
  EXPECT_NE(shown.pixel(29, 30)[0], 255);
  // A panel for the picture and one for each row, beside each other.
  const Picture all = panels(picture, {weights, weights}, {2, 3}, 180);
  EXPECT_EQ(all.height, 120);
  EXPECT_EQ(all.width, 3 * 180 + 2 * 8);
  EXPECT_EQ(all.pixel(60, 90)[1], 200);
  EXPECT_EQ(all.pixel(60, 184)[1], 255);  // the gap
  EXPECT_EQ(panels(picture, {weights, weights, weights, weights, weights, weights}, {2, 3}, 180).height, 2 * 120 + 8);
}

}  // namespace
}  // namespace heed::data
