// The functions of Pango and Cairo that draw PNG files. They are found when the first picture is drawn, not when the
// program starts: loading the two and what they need would make every command 10 ms slower, and the program would not
// start where they are missing.
#pragma once

#include <pango/pangocairo.h>

namespace heed::cli {

#define HEED_PANGO_FUNCTIONS(X)                  \
  X(cairo_create);                               \
  X(cairo_destroy);                              \
  X(cairo_fill);                                 \
  X(cairo_get_source);                           \
  X(cairo_image_surface_create);                 \
  X(cairo_image_surface_create_from_png_stream); \
  X(cairo_image_surface_get_data);               \
  X(cairo_image_surface_get_height);             \
  X(cairo_image_surface_get_stride);             \
  X(cairo_image_surface_get_width);              \
  X(cairo_move_to);                              \
  X(cairo_paint);                                \
  X(cairo_pattern_set_extend);                   \
  X(cairo_pattern_set_filter);                   \
  X(cairo_rectangle);                            \
  X(cairo_restore);                              \
  X(cairo_rotate);                               \
  X(cairo_save);                                 \
  X(cairo_scale);                                \
  X(cairo_set_antialias);                        \
  X(cairo_set_line_width);                       \
  X(cairo_set_source_rgba);                      \
  X(cairo_set_source_surface);                   \
  X(cairo_status_to_string);                     \
  X(cairo_stroke);                               \
  X(cairo_surface_destroy);                      \
  X(cairo_surface_flush);                        \
  X(cairo_surface_status);                       \
  X(cairo_translate);                            \
  X(g_object_unref);                             \
  X(pango_cairo_create_layout);                  \
  X(pango_cairo_show_layout);                    \
  X(pango_cairo_update_layout);                  \
  X(pango_font_description_free);                \
  X(pango_font_description_from_string);         \
  X(pango_font_description_set_absolute_size);   \
  X(pango_layout_get_baseline);                  \
  X(pango_layout_get_character_count);           \
  X(pango_layout_get_extents);                   \
  X(pango_layout_get_unknown_glyphs_count);      \
  X(pango_layout_set_ellipsize);                 \
  X(pango_layout_set_font_description);          \
  X(pango_layout_set_single_paragraph_mode);     \
  X(pango_layout_set_text);                      \
  X(pango_layout_set_width)

struct Pango {
#define HEED_MEMBER(name) decltype(&::name) name
  HEED_PANGO_FUNCTIONS(HEED_MEMBER);
#undef HEED_MEMBER
};

/// Throws, with what to install, if they are not on this machine.
const Pango& pango();

}  // namespace heed::cli
