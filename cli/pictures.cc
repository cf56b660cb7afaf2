#include "cli/pictures.h"

#include <fmt/format.h>

#include "cli/counter.h"
#include "cli/png_painter.h"
#include "heed/base/atomic.h"
#include "heed/view/svg.h"

namespace heed::cli {

void add_scale(Verb& verb, double& scale) {
  verb.option("--scale", scale, "PNG files: pixels for each of the drawing (default 2)").value("N").from_to(0.25, 16.0);
}

void write_svg(const std::filesystem::path& file, const view::Drawing& drawing) {
  file::write_file(file, view::svg_text(drawing, view::Colours::own));
}

PngFiles::PngFiles(double scale) : scale_(scale) { expect_png_painter(); }

void PngFiles::write(const std::filesystem::path& file, const view::Drawing& drawing) {
  const PaintedPng painted = paint_png(drawing, scale_);
  if (!painted.unknown.empty() && !warned_) {
    warn(fmt::format(
        "no installed font has all letters of '{}', which are drawn as boxes: install one for that script (on Debian, "
        "fonts-noto-core and fonts-noto-cjk have most), or use SVG, which leaves fonts to whoever opens it",
        painted.unknown));
    warned_ = true;
  }
  file::write_file(file, painted.bytes);
}

}  // namespace heed::cli
