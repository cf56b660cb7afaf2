#include "heed/data/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "heed/base/random.h"

namespace heed::data {

namespace {

constexpr std::string_view kSceneScheme = "scene:";
constexpr uint8_t kPaper = 245;
constexpr uint64_t kOneInSoManyIsAbsent = 8;

/// (y, x) from the centre of a shape, in units of its radius; y points down.
struct ShapeKind {
  std::string_view name;
  bool (*covers)(double y, double x);
};

double size_of(double x) { return x < 0 ? -x : x; }

constexpr std::array<ShapeKind, 7> kShapeKinds = {{
    {"circle", [](double y, double x) { return y * y + x * x <= 1.0; }},
    {"square", [](double y, double x) { return size_of(y) <= 0.85 && size_of(x) <= 0.85; }},
    {"triangle", [](double y, double x) { return y <= 0.8 && size_of(x) <= (y + 1.0) * 0.58; }},
    {"cross",
     [](double y, double x) {
       return std::min(size_of(y), size_of(x)) <= 0.3 && std::max(size_of(y), size_of(x)) <= 1.0;
     }},
    {"ring", [](double y, double x) { return y * y + x * x <= 1.0 && y * y + x * x >= 0.36; }},
    {"diamond", [](double y, double x) { return size_of(y) + size_of(x) <= 1.0; }},
    {"bar", [](double y, double x) { return size_of(y) <= 0.32 && size_of(x) <= 1.0; }},
}};

struct ShapeColour {
  std::string_view name;
  std::array<uint8_t, 3> rgb;
};
constexpr std::array<ShapeColour, 6> kShapeColours = {{{"red", {214, 39, 40}},
                                                       {"green", {44, 160, 44}},
                                                       {"blue", {31, 90, 214}},
                                                       {"yellow", {245, 200, 20}},
                                                       {"purple", {148, 60, 180}},
                                                       {"black", {35, 35, 35}}}};

template <class Named, size_t n>
const Named& find_named(const std::array<Named, n>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
}

/// In pixels, in steps of 1/4: one of `count` values around 0.
double jitter(text::Random& random, uint64_t count) {
  return (static_cast<double>(random.below(count)) - static_cast<double>(count - 1) / 2) / 4;
}

template <class Make>
Pairs scene_pairs(int64_t count, uint64_t seed, Split split, const Make& make) {
  text::Random random(seed, /*stream=*/0x7363656e65);
  Pairs pairs;
  while (pairs.size() < count) {
    const uint64_t number = random.next() >> 16;  // short enough to be typed
    if (split_of(scene_name(number), "") == split) make(pairs, number, random);
  }
  return pairs;
}

}  // namespace

const DrawnShape* Scene::shape(std::string_view kind) const {
  const auto found =
      std::find_if(shapes.begin(), shapes.end(), [&](const DrawnShape& each) { return each.kind == kind; });
  return found == shapes.end() ? nullptr : &*found;
}

std::string_view Scene::colour_of(std::string_view kind) const {
  const DrawnShape* there = shape(kind);
  return there ? there->colour : "none";
}

std::string Scene::caption() const {
  std::string text;
  for (const DrawnShape& each : shapes)
    text += fmt::format("{}{} {}", text.empty() ? "" : " left of ", each.colour, each.kind);
  return text;
}

Scene scene_of(uint64_t number) {
  text::Random random(number, /*stream=*/0x73686170);
  std::array<size_t, kShapeKinds.size()> kinds;
  std::iota(kinds.begin(), kinds.end(), 0);
  random.shuffle(std::span<size_t>(kinds));
  const std::vector<size_t> columns = random.sample(kScenePlaces, kShapesOfAScene);
  Scene scene;
  for (size_t i = 0; i < scene.shapes.size(); ++i) {
    DrawnShape& shape = scene.shapes[i];
    shape.kind = kShapeKinds[kinds[i]].name;
    shape.colour = random.choose(std::span<const ShapeColour>(kShapeColours)).name;
    shape.column = static_cast<int64_t>(columns[i]);
    shape.row = static_cast<int64_t>(random.below(kScenePlaces));
    // It stays inside its place: half of that is 8 pixels.
    shape.radius = 6.25 + jitter(random, 7);
    const auto centre = [&](int64_t place) {
      return (static_cast<double>(place) + 0.5) * kScenePlacePixels + jitter(random, 9);
    };
    shape.y = centre(shape.row);
    shape.x = centre(shape.column);
  }
  return scene;
}

Picture draw(const Scene& scene) {
  constexpr int64_t kParts = 4;  // a pixel is this many times as finely sampled, in each direction
  Picture picture(kScenePlaces * kScenePlacePixels, kScenePlaces * kScenePlacePixels, kPaper);
  for (const DrawnShape& shape : scene.shapes) {
    const auto covers = find_named(kShapeKinds, shape.kind).covers;
    const std::array<uint8_t, 3>& rgb = find_named(kShapeColours, shape.colour).rgb;
    const int64_t top = shape.row * kScenePlacePixels, left = shape.column * kScenePlacePixels;
    for (int64_t y = top; y < top + kScenePlacePixels; ++y)
      for (int64_t x = left; x < left + kScenePlacePixels; ++x) {
        int covered = 0;
        for (int64_t part = 0; part < kParts * kParts; ++part) {
          const int64_t part_y = part / kParts, part_x = part % kParts;
          const double in_y = static_cast<double>(y) + (static_cast<double>(part_y) + 0.5) / kParts;
          const double in_x = static_cast<double>(x) + (static_cast<double>(part_x) + 0.5) / kParts;
          covered += covers((in_y - shape.y) / shape.radius, (in_x - shape.x) / shape.radius) ? 1 : 0;
        }
        for (size_t c = 0; c < 3; ++c)
          picture.pixel(y, x)[c] = static_cast<uint8_t>(
              (rgb[c] * covered + kPaper * (kParts * kParts - covered) + kParts * kParts / 2) / (kParts * kParts));
      }
  }
  return picture;
}

std::optional<uint64_t> scene_number(std::string_view name) {
  if (!name.starts_with(kSceneScheme)) return {};
  name.remove_prefix(kSceneScheme.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return {};
  return number;
}

std::string scene_name(uint64_t number) { return fmt::format("{}{}", kSceneScheme, number); }

Pairs scene_questions(int64_t count, uint64_t seed, Split split) {
  return scene_pairs(count, seed, split, [](Pairs& pairs, uint64_t number, text::Random& random) {
    const Scene scene = scene_of(number);
    std::string_view kind = random.choose(std::span<const DrawnShape>(scene.shapes)).kind;
    if (random.below(kOneInSoManyIsAbsent) == 0)
      while (scene.shape(kind)) kind = random.choose(std::span<const ShapeKind>(kShapeKinds)).name;
    pairs.add(fmt::format("{}\t{}", scene_name(number), kind), scene.colour_of(kind), pairs.size() + 1);
  });
}

Pairs scene_captions(int64_t count, uint64_t seed, Split split) {
  return scene_pairs(count, seed, split, [](Pairs& pairs, uint64_t number, text::Random&) {
    pairs.add(scene_name(number), scene_of(number).caption(), pairs.size() + 1);
  });
}

}  // namespace heed::data
