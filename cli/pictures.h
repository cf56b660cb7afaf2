// Drawings in files, for the commands that show attention: SVG or PNG.
#pragma once

#include <filesystem>
#include <string>

#include "cli/arguments.h"
#include "heed/view/drawing.h"

namespace heed::cli {

inline constexpr double kUsualScale = 2.0;  // sharp on screens of today, and in print

/// --scale
void add_scale(Verb& verb, double& scale);

void write_svg(const std::filesystem::path& file, const view::Drawing& drawing);

/// Warns once if no font has some of the letters.
class PngFiles {
 public:
  /// Throws if this program cannot draw them.
  explicit PngFiles(double scale);
  void write(const std::filesystem::path& file, const view::Drawing& drawing);

 private:
  double scale_;
  bool warned_ = false;
};

}  // namespace heed::cli
