#include "heed/view/svg.h"

#include <fmt/format.h>

#include "heed/text/bytes.h"
#include "heed/view/base64.h"
#include "heed/view/palette.h"

namespace heed::view {

namespace {

/// The selectors name the drawing: in a page, the style must not reach anything else.
std::string fills(int Colour::*shade, int paper) {
  std::string rules = fmt::format(".heed-drawing .paper {{ fill: #{:06x}; }}\n", paper);
  for (const Colour& colour : kColours)
    rules += fmt::format(".heed-drawing {}{} {{ fill: #{:06x}; }}\n", colour.ink == Ink::text ? "" : ".", colour.name,
                         colour.*shade);
  return rules;
}

std::string style() {
  return fmt::format(
      "<style>\n.heed-drawing text {{ font: {}px ui-monospace, monospace; unicode-bidi: plaintext; }}\n{}"
      "@media (prefers-color-scheme: dark) {{\n{}}}\n</style>\n",
      kTextSize, fills(&Colour::light, kLightPaper), fills(&Colour::dark, kDarkPaper));
}

const char* class_of(Ink ink) { return colour_of(ink).name; }

std::string place(const Box& box) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", box.x, box.y, box.width, box.height);
}

/// Adds shapes to a text.
struct Painter {
  std::string& svg;

  void operator()(const Fill& fill) const {
    svg += fmt::format("<rect class=\"{}\" {}", class_of(fill.ink), place(fill.box));
    svg += fill.ink == Ink::frame ? "/>" : fmt::format(" fill-opacity=\"{:.2f}\"/>", fill.opacity);
  }
  void operator()(const Outline& line) const {
    const int half = line.thick / 2;
    const Box inside{line.box.x + half, line.box.y + half, line.box.width - line.thick, line.box.height - line.thick};
    svg += fmt::format("<path d=\"M{} {}h{}v{}h-{}z\" fill=\"none\" stroke=\"#{:06x}\" stroke-width=\"{}\"/>", inside.x,
                       inside.y, inside.width, inside.height, inside.width, colour_of(line.ink).light, line.thick);
  }
  void operator()(const Label& label) const {
    svg += fmt::format("<text x=\"{}\" y=\"{}\"", label.x, label.y);
    if (label.ink != Ink::text) svg += fmt::format(" class=\"{}\"", class_of(label.ink));
    if (label.anchor != Anchor::start)
      svg += fmt::format(" text-anchor=\"{}\"", label.anchor == Anchor::middle ? "middle" : "end");
    if (label.turned) svg += fmt::format(" transform=\"rotate(-90 {} {})\"", label.x, label.y);
    svg += fmt::format(">{}</text>", escaped(label.text));
  }
  /// The picture itself comes once, however often it is shown.
  void operator()(const Image& image) const {
    svg +=
        fmt::format("<svg {} viewBox=\"0 0 1 1\" preserveAspectRatio=\"none\"><use href=\"#heed-picture-{}\"/></svg>",
                    place(image.box), image.picture);
  }
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text::repaired(text)) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      safe += "\xEF\xBF\xBD";
    else
      safe += c;
  }
  return safe;
}

std::string svg_text(const Drawing& drawing, Colours colours) {
  const bool own = colours == Colours::own;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heed-drawing\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\"><title>{2}</title>\n",
      drawing.width, drawing.height, escaped(drawing.title));
  if (own) svg += style();
  for (size_t i = 0; i < drawing.pictures.size(); ++i)
    svg += fmt::format(
        "<defs><image id=\"heed-picture-{}\" width=\"1\" height=\"1\" preserveAspectRatio=\"none\" "
        "href=\"data:image/png;base64,{}\"/></defs>\n",
        i, base64(drawing.pictures[i]));
  if (own) svg += "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
  for (const Shape& shape : drawing.shapes) {
    std::visit(Painter{svg}, shape);
    if (std::holds_alternative<Label>(shape)) svg += "\n";
  }
  return svg + "</svg>\n";
}

}  // namespace heed::view
