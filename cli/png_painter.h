// A drawing as PNG. Text in any script needs fonts, shaping and both directions: Pango and Cairo do that. They are no
// dependency of the library; a program that was built without them says what is missing.
#pragma once

#include <string>

#include "heed/view/drawing.h"

namespace heed::cli {

/// Throws with what to install, if this program cannot paint.
void expect_png_painter();

struct PaintedPng {
  std::string bytes = {};    // of the file
  std::string unknown = {};  // a text with letters that no installed font has: they are drawn as boxes
};

/// `scale`: pixels for each of the drawing. Throws if the drawing is too large for that.
PaintedPng paint_png(const view::Drawing& drawing, double scale);

}  // namespace heed::cli
