#include "cli/png_painter.h"

#include "heed/base/error.h"

#if HEED_PANGO

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "cli/pango.h"
#include "heed/data/picture.h"
#include "heed/view/palette.h"

namespace heed::cli {

namespace {

using view::Anchor;
using view::Ink;

constexpr double kMostPixelsOfASide = 32'000;  // Cairo's limit is 32,767
constexpr double kMostPixels = 2e8;            // 800 MB while it is painted

using Surface = std::unique_ptr<cairo_surface_t, decltype(Pango::cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(Pango::cairo_destroy)>;
using Layout = std::unique_ptr<PangoLayout, decltype(Pango::g_object_unref)>;

/// A PNG is printed, or pasted onto white: it has the light colours.
void set_colour(cairo_t* cairo, int rgb, double opacity) {
  pango().cairo_set_source_rgba(cairo, (rgb >> 16) / 255.0, ((rgb >> 8) & 255) / 255.0, (rgb & 255) / 255.0, opacity);
}

cairo_status_t next_bytes(void* rest, unsigned char* to, unsigned int count) {
  auto& bytes = *static_cast<std::span<const char>*>(rest);
  if (bytes.size() < count) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, bytes.data(), count);
  bytes = bytes.subspan(count);
  return CAIRO_STATUS_SUCCESS;
}

Surface surface_of(const std::string& png) {
  std::span<const char> rest(png);
  Surface surface(pango().cairo_image_surface_create_from_png_stream(next_bytes, &rest), pango().cairo_surface_destroy);
  expect(pango().cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS, ErrorKind::bug, "paint: {}",
         pango().cairo_status_to_string(pango().cairo_surface_status(surface.get())));
  return surface;
}

/// Paints shape after shape.
class Painter {
 public:
  Painter(cairo_t* cairo, const view::Drawing& drawing)
      : cairo_(cairo), layout_(pango().pango_cairo_create_layout(cairo), pango().g_object_unref) {
    PangoFontDescription* font = pango().pango_font_description_from_string("monospace");
    pango().pango_font_description_set_absolute_size(font, view::kTextSize * PANGO_SCALE);
    pango().pango_layout_set_font_description(layout_.get(), font);
    pango().pango_font_description_free(font);
    pango().pango_layout_set_single_paragraph_mode(layout_.get(), true);
    for (const std::string& png : drawing.pictures) pictures_.push_back(surface_of(png));
    pango().cairo_set_antialias(cairo, CAIRO_ANTIALIAS_NONE);  // for boxes: no seams between them. Text has its own.
  }

  void operator()(const view::Fill& fill) {
    set_ink(fill.ink, fill.opacity);
    pango().cairo_rectangle(cairo_, fill.box.x, fill.box.y, fill.box.width, fill.box.height);
    pango().cairo_fill(cairo_);
  }
  void operator()(const view::Outline& line) {
    set_ink(line.ink, 1);
    const double thick = line.thick;
    pango().cairo_set_line_width(cairo_, thick);
    pango().cairo_rectangle(cairo_, line.box.x + thick / 2, line.box.y + thick / 2, line.box.width - thick,
                            line.box.height - thick);
    pango().cairo_stroke(cairo_);
  }
  void operator()(const view::Label& label) {
    PangoLayout* layout = layout_.get();
    pango().pango_layout_set_width(layout, -1);
    pango().pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_NONE);
    pango().pango_layout_set_text(layout, label.text.data(), static_cast<int>(label.text.size()));
    // The fonts that a script falls back to may be wider than the layout reckoned with.
    PangoRectangle box;
    pango().pango_layout_get_extents(layout, nullptr, &box);
    if (box.width > label.room * PANGO_SCALE && pango().pango_layout_get_character_count(layout) > 1) {
      pango().pango_layout_set_width(layout, label.room * PANGO_SCALE);
      pango().pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
      pango().pango_layout_get_extents(layout, nullptr, &box);
    }
    if (unknown_.empty() && pango().pango_layout_get_unknown_glyphs_count(layout) > 0) unknown_ = label.text;
    const double width = static_cast<double>(box.width) / PANGO_SCALE;
    const double before = label.anchor == Anchor::start ? 0 : label.anchor == Anchor::middle ? width / 2 : width;
    set_ink(label.ink, 1);
    pango().cairo_save(cairo_);
    pango().cairo_translate(cairo_, label.x, label.y);
    if (label.turned) pango().cairo_rotate(cairo_, -G_PI / 2);
    pango().cairo_move_to(cairo_, -before - static_cast<double>(box.x) / PANGO_SCALE,
                          -static_cast<double>(pango().pango_layout_get_baseline(layout)) / PANGO_SCALE);
    pango().pango_cairo_update_layout(cairo_, layout);
    pango().pango_cairo_show_layout(cairo_, layout);
    pango().cairo_restore(cairo_);
  }
  void operator()(const view::Image& image) {
    cairo_surface_t* picture = pictures_[image.picture].get();
    pango().cairo_save(cairo_);
    pango().cairo_translate(cairo_, image.box.x, image.box.y);
    pango().cairo_scale(cairo_, static_cast<double>(image.box.width) / pango().cairo_image_surface_get_width(picture),
                        static_cast<double>(image.box.height) / pango().cairo_image_surface_get_height(picture));
    pango().cairo_set_source_surface(cairo_, picture, 0, 0);
    pango().cairo_pattern_set_filter(pango().cairo_get_source(cairo_), CAIRO_FILTER_BEST);
    pango().cairo_pattern_set_extend(pango().cairo_get_source(cairo_), CAIRO_EXTEND_PAD);  // no pale line around it
    pango().cairo_rectangle(cairo_, 0, 0, pango().cairo_image_surface_get_width(picture),
                            pango().cairo_image_surface_get_height(picture));
    pango().cairo_fill(cairo_);
    pango().cairo_restore(cairo_);
  }

  const std::string& unknown() const { return unknown_; }

 private:
  void set_ink(Ink ink, double opacity) { set_colour(cairo_, view::colour_of(ink).light, opacity); }

  cairo_t* cairo_;
  Layout layout_;
  std::vector<Surface> pictures_;
  std::string unknown_;
};

data::Picture picture_of(cairo_surface_t* surface) {
  pango().cairo_surface_flush(surface);
  data::Picture picture(pango().cairo_image_surface_get_height(surface),
                        pango().cairo_image_surface_get_width(surface));
  const unsigned char* pixels = pango().cairo_image_surface_get_data(surface);
  const int stride = pango().cairo_image_surface_get_stride(surface);
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      uint32_t pixel = 0;  // as Cairo has it: 0x00RRGGBB in the order of the machine
      std::memcpy(&pixel, pixels + y * stride + x * 4, sizeof pixel);
      for (int c = 0; c < 3; ++c) picture.pixel(y, x)[c] = static_cast<uint8_t>(pixel >> (16 - 8 * c));
    }
  return picture;
}

}  // namespace

void expect_png_painter() {
  const Surface surface(pango().cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1), pango().cairo_surface_destroy);
  const Context cairo(pango().cairo_create(surface.get()), pango().cairo_destroy);
  const Layout layout(pango().pango_cairo_create_layout(cairo.get()), pango().g_object_unref);
  pango().pango_layout_set_text(layout.get(), "a", 1);
  expect(pango().pango_layout_get_unknown_glyphs_count(layout.get()) == 0,
         "no font is installed, so labels cannot be drawn: --svg works without; on Debian: apt-get install "
         "fonts-dejavu-core");
}

PaintedPng paint_png(const view::Drawing& drawing, double scale) {
  const double width = std::max(1.0, drawing.width * scale), height = std::max(1.0, drawing.height * scale);
  expect(width <= kMostPixelsOfASide && height <= kMostPixelsOfASide && width * height <= kMostPixels, ErrorKind::data,
         "a PNG of {:.0f} x {:.0f} pixels is too large: a smaller --scale, --svg or --html can show it", width, height);
  const Surface surface(
      pango().cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)),
      pango().cairo_surface_destroy);
  if (pango().cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) throw std::bad_alloc();
  const Context cairo(pango().cairo_create(surface.get()), pango().cairo_destroy);
  set_colour(cairo.get(), view::kLightPaper, 1);
  pango().cairo_paint(cairo.get());
  pango().cairo_scale(cairo.get(), scale, scale);
  Painter painter(cairo.get(), drawing);
  for (const view::Shape& shape : drawing.shapes) std::visit(painter, shape);
  return {data::png_of(picture_of(surface.get())), painter.unknown()};
}

}  // namespace heed::cli

#else

namespace heed::cli {

void expect_png_painter() {
  throw Error(
      "this heed was built without Pango, which draws text in PNG files: --svg and --html work without it; on Debian: "
      "apt-get install libpango1.0-dev fonts-dejavu-core, and build again");
}

PaintedPng paint_png(const view::Drawing&, double) {
  expect_png_painter();
  return {};
}

}  // namespace heed::cli

#endif
