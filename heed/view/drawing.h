// A drawing as a list of shapes: it is laid out once, and painters turn it into SVG (svg.h) or pixels.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace heed::view {

/// What a shape is painted with. Which colour that is, a painter decides: light or dark, its own or that of a page.
enum class Ink {
  text,
  faint,  // text that explains
  frame,  // behind the cells
  on,     // weights above 0
  off,    // weights below 0, and the second of two kinds of weights
  night,  // over a picture, where attention did not look
  mark,   // around what was looked at most
};

/// In pixels at the scale 1; y grows downwards.
struct Box {
  int x = 0, y = 0, width = 0, height = 0;
};

struct Fill {
  Box box;
  Ink ink = Ink::on;
  double opacity = 1;
};

struct Outline {
  Box box;  // the line runs along the inside of it
  Ink ink = Ink::mark;
  int thick = 2;
};

enum class Anchor { start, middle, end };

/// One line of text, in a fixed-width font of kTextSize.
struct Label {
  std::string text;
  int x = 0, y = 0;  // of the anchor, on the baseline
  int room = 0;      // what the layout left for it, in pixels: painters that can measure cut it there
  Anchor anchor = Anchor::start;
  Ink ink = Ink::text;
  bool turned = false;  // by a quarter: it runs upwards from the anchor
};

struct Image {
  Box box;
  size_t picture = 0;  // of the drawing
};

using Shape = std::variant<Fill, Outline, Label, Image>;

struct Drawing {
  std::string title;  // for screen readers, and shown by browsers
  int width = 0, height = 0;
  std::vector<Shape> shapes = {};
  std::vector<std::string> pictures = {};  // the bytes of PNG files
};

inline constexpr int kTextSize = 11;   // pixels
inline constexpr int kTextColumn = 7;  // the room that the layout leaves for a narrow letter; wide ones take two

}  // namespace heed::view
