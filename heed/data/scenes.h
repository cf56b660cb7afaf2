// The drawn tasks: some shapes of different kinds and colours, scattered on a canvas.
//
//   scenes           a picture and the name of a shape   ->   its colour, or none:   scene:17, circle -> yellow
//   scene_captions   a picture   ->   what it shows from left to right:   red circle left of black bar
//
// A scene follows from its number, and "scene:17" is its name wherever a picture is expected. The canvas is a square of
// places, with at most one shape in each, so that it is known where a model should look.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/pairs.h"
#include "heed/data/picture.h"
#include "heed/data/split.h"

namespace heed::data {

inline constexpr int64_t kScenePlaces = 6;        // to a side
inline constexpr int64_t kScenePlacePixels = 16;  // to a side of a place
inline constexpr int64_t kShapesOfAScene = 4;

struct DrawnShape {
  std::string_view kind, colour;    // "circle", "red"
  int64_t row = 0, column = 0;      // of its place
  double y = 0, x = 0, radius = 0;  // in pixels
};

/// From left to right; no two of one kind, and no two in one column.
struct Scene {
  std::array<DrawnShape, kShapesOfAScene> shapes;

  /// Null if it has no such shape.
  const DrawnShape* shape(std::string_view kind) const;
  std::string_view colour_of(std::string_view kind) const;  // or "none"
  std::string caption() const;
};

Scene scene_of(uint64_t number);
Picture draw(const Scene& scene);

/// "scene:17" -> 17; nothing if it is not the name of a scene.
std::optional<uint64_t> scene_number(std::string_view name);
std::string scene_name(uint64_t number);

/// Pairs of "scene:17<tab>circle" and "yellow". One question in eight names a shape that is not there: else a model
/// could take one of the colours for granted where it sees no other, and need not look. The split follows from the
/// number of the scene.
Pairs scene_questions(int64_t count, uint64_t seed, Split split);
/// Pairs of "scene:17" and its caption.
Pairs scene_captions(int64_t count, uint64_t seed, Split split);

}  // namespace heed::data
