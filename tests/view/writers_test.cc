// Documents as JSON and SVG.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "heed/view/draw.h"
#include "heed/view/json.h"
#include "heed/view/palette.h"
#include "heed/view/svg.h"
#include "tests/base/folder.h"

namespace heed::view {
namespace {

Document small(std::vector<float> weights) {
  Example example{.input = "a b", .output = "x", .log_probability = -0.5};
  example.sequences = {{"source", "input", {"a", "b"}}, {"target", "output", {"x"}}};
  example.maps = {{.name = "decoder.attention",
                   .label = "attention to the source",
                   .group = "attention to the source",
                   .layer = 0,
                   .queries = "target",
                   .keys = "source",
                   .heads = 1,
                   .rows = 1,
                   .columns = 2,
                   .weights = std::move(weights)}};
  return {.title = "t", .models = {{"m", "seq2seq", "rnn", "width 8"}}, .examples = {example}};
}

const file::Json& weights_in(const file::Json& document) {
  const auto* examples = document.find("examples")->as<file::Json::Elements>();
  return *(*examples->front().find("maps")->as<file::Json::Elements>()).front().find("weights");
}

std::string bytes_of(const file::Json& weights) {
  const std::string text = *weights.find("data")->as<std::string>();
  std::string bytes(text.size(), '\0');
  const int count = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  EXPECT_GE(count, 0);
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

TEST(Document, ExactWeightsKeepEveryBit) {
  const std::vector<float> weights = {0.1f, -0.9f};
  const file::Json document = json_of(small(weights), Precision::exact);
  const file::Json& found = weights_in(document);
  EXPECT_EQ(*found.find("encoding")->as<std::string>(), "f32");
  float back[2];
  std::memcpy(back, bytes_of(found).data(), sizeof back);
  EXPECT_EQ(back[0], weights[0]);
  EXPECT_EQ(back[1], weights[1]);
}

TEST(Document, DrawnWeightsAreCloseEnoughForAnEye) {
  const std::vector<float> weights = {0.003f, 0.75f};
  const file::Json document = json_of(small(weights), Precision::drawn);
  const file::Json& found = weights_in(document);
  EXPECT_EQ(*found.find("encoding")->as<std::string>(), "sqrt_u8");
  const double scale = *found.find("scale")->as<double>();
  const std::string bytes = bytes_of(found);
  for (size_t i = 0; i < 2; ++i) {
    const double share = static_cast<unsigned char>(bytes[i]) / 255.0;
    EXPECT_NEAR(scale * share * share, weights[i], 0.75 / 255 + 1e-9) << i;  // the step at the top: 2 / 255 * scale / 2
  }
}

TEST(Document, NegativeWeightsAreNotRoundedAway) {
  const file::Json document = json_of(small({-0.25f, 0.5f}), Precision::drawn);
  EXPECT_EQ(*weights_in(document).find("encoding")->as<std::string>(), "f32");
}

TEST(Document, TheSearchTreeHasItsNodesAndWeights) {
  Document document = small({0.5f, 0.5f});
  Beam beam;
  beam.nodes = {
      {.token = "<s>", .kept = true},
      {.parent = 0, .token = "x", .score = -0.25, .kept = true},
      {.parent = 0, .token = "y", .score = -2.0},
      {.parent = 1, .token = "</s>", .score = -0.5, .kept = true, .finished = true, .ranked_by = -0.4, .rank = 1}};
  document.examples[0].beam = beam;
  const auto written = [&] {
    const file::Json all = json_of(document, Precision::exact);
    return *all.find("examples")->as<file::Json::Elements>()->front().find("beam");
  };
  EXPECT_EQ(written().line(),
            R"({"nodes":[{"id":0,"parent":-1,"token":"<s>","score":0.0,"kept":true,"final":false},)"
            R"({"id":1,"parent":0,"token":"x","score":-0.25,"kept":true,"final":false},)"
            R"({"id":2,"parent":0,"token":"y","score":-2.0,"kept":false,"final":false},)"
            R"({"id":3,"parent":1,"token":"</s>","score":-0.5,"kept":true,"final":true,"ranked_by":-0.4,"rank":1}]})");
  document.examples[0].beam->keys = "source";
  document.examples[0].beam->weights = {0, 0, 0.25f, 0.75f, 0.25f, 0.75f, 1, 0};
  const file::Json with = written();
  EXPECT_EQ(*with.find("keys")->as<std::string>(), "source");
  EXPECT_EQ(bytes_of(*with.find("weights")).substr(0, 8), std::string(8, '\0'));
  float back[2];
  std::memcpy(back, bytes_of(*with.find("weights")).data() + 8, sizeof back);
  EXPECT_EQ(back[0], 0.25f);
  EXPECT_EQ(back[1], 0.75f);
}

TEST(Document, TheMeanOfHeads) {
  const Map map{.heads = 2, .rows = 1, .columns = 2, .weights = {0.0f, 1.0f, 0.5f, 0.5f}};
  EXPECT_EQ(map.of_head(-1), (std::vector<float>{0.25f, 0.75f}));
  EXPECT_EQ(map.of_head(1), (std::vector<float>{0.5f, 0.5f}));
  expect_part(error_of([&] { map.of_head(2); }), "head 3");
}

TEST(Document, TheReferenceIsThereIfItIsKnown) {
  Document document = small({0.5f, 0.5f});
  const auto first = [](const file::Json& json) { return json.find("examples")->as<file::Json::Elements>()->front(); };
  EXPECT_EQ(first(json_of(document, Precision::exact)).find("reference"), nullptr);
  document.examples[0].reference = "y";
  EXPECT_EQ(*first(json_of(document, Precision::exact)).find("reference")->as<std::string>(), "y");
}

TEST(Svg, LabelsAreEscapedAndCut) {
  const std::string svg = svg_text(drawing_of(Matrix{.title = "a & b",
                                                     .columns = {"<b", " ", std::string(40, 'x')},
                                                     .rows = {"ä"},
                                                     .weights = {0.5f, -0.5f, 0.001f}}),
                                   Colours::own);
  expect_part(svg, "<title>a &amp; b</title>");
  expect_part(svg, ">&lt;b</text>");
  expect_part(svg, ">␣</text>");
  expect_part(svg, "xxx…</text>");
  expect_part(svg, "class=\"on\"");
  expect_part(svg, "class=\"off\"");
  expect_part(svg, "<style>");
  EXPECT_EQ(svg.find(std::string(30, 'x')), std::string::npos);
}

TEST(Svg, BytesThatAreNoText) {
  const std::string svg = svg_text(
      drawing_of(Matrix{.title = "\xff", .columns = {"\xc3", "\x01"}, .rows = {"a\xe4"}, .weights = {0.5f, 0.5f}}),
      Colours::own);
  expect_part(svg, "<title>\uFFFD</title>");
  expect_part(svg, ">a\uFFFD</text>");
  EXPECT_EQ(svg.find_first_of("\xc3\xe4\xff\x01"), std::string::npos);
}

TEST(Svg, EveryInkHasItsColour) {
  for (size_t i = 0; i < kColours.size(); ++i) EXPECT_EQ(static_cast<size_t>(kColours[i].ink), i);
  const std::string svg = svg_text(Drawing{.title = "", .width = 1, .height = 1}, Colours::own);
  expect_part(svg, ".heed-drawing .on { fill: #b3261e; }");
  expect_part(svg, ".heed-drawing text { fill: #e6e8ec; }");
}

TEST(Svg, APageBringsItsOwnColours) {
  const std::string svg =
      svg_text(drawing_of(Matrix{.title = "", .columns = {"a"}, .rows = {"b"}, .weights = {1.0f}}), Colours::page);
  EXPECT_EQ(svg.find("<style>"), std::string::npos);
  EXPECT_EQ(svg.find("paper"), std::string::npos);
  expect_part(svg, "class=\"on\"");
}

}  // namespace
}  // namespace heed::view
