// The colours of drawings, for every painter.
#pragma once

#include <array>

#include "heed/view/drawing.h"

namespace heed::view {

struct Colour {
  Ink ink;
  const char* name;  // the class of its shapes in SVG
  int light, dark;   // 0xRRGGBB, on light and on dark paper
};

inline constexpr int kLightPaper = 0xffffff, kDarkPaper = 0x14161a;
inline constexpr std::array<Colour, 7> kColours = {{
    {Ink::text, "text", 0x1a1c20, 0xe6e8ec},
    {Ink::faint, "faint", 0x5c6370, 0x9aa3b2},
    {Ink::frame, "frame", 0xf4f6f9, 0x1b1f26},
    {Ink::on, "on", 0xb3261e, 0xffb45c},
    {Ink::off, "off", 0x1f5fbf, 0x6cb2ff},
    {Ink::night, "night", 0x000000, 0x000000},
    {Ink::mark, "mark", 0xff8c00, 0xff8c00},
}};

/// They are in the order of Ink.
constexpr const Colour& colour_of(Ink ink) { return kColours[static_cast<size_t>(ink)]; }

}  // namespace heed::view
