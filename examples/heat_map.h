// Weights as colours on a terminal. Colours where standard output is a terminal and NO_COLOR is not set, shades of
// characters elsewhere.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace heat_map {

/// weights[row * cols.size() + col] in [0, 1], with a letter for every row and column.
struct Map {
  std::string title;
  std::string rows, cols;
  std::vector<float> weights;

  float at(size_t r, size_t c) const { return weights[r * cols.size() + c]; }
};

class Terminal {
 public:
  Terminal() {
    const auto value = [](const char* name) {
      const char* found = std::getenv(name);
      return std::string(found ? found : "");
    };
    colour_ = isatty(STDOUT_FILENO) && value("NO_COLOR").empty() && value("TERM") != "dumb";
    full_colour_ = value("COLORTERM") == "truecolor" || value("COLORTERM") == "24bit";
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const std::string locale = value(name);
      if (locale.empty()) continue;
      unicode_ = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
      break;
    }
  }

  std::string bold(const std::string& text) const { return colour_ ? "\033[1m" + text + "\033[0m" : text; }
  std::string faint(const std::string& text) const { return colour_ ? "\033[2m" + text + "\033[0m" : text; }

  /// A blank would be no label.
  std::string letter(char c) const { return c != ' ' ? std::string(1, c) : unicode_ ? "␣" : "_"; }

  /// `text` on the colour of the weight; without colours its blanks before the first letter become the shade.
  std::string cell(float weight, const std::string& text) const {
    const float w = std::isfinite(weight) ? std::clamp(weight, 0.0f, 1.0f) : 0.0f;
    if (!colour_) {
      const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
      std::string shades;
      for (size_t n = 0; n < blanks; ++n) shades += shade(w);
      return shades + text.substr(blanks);
    }
    const char* ink = w > 0.6f ? "\033[38;5;16m" : "\033[38;5;250m";
    return background(w) + ink + text + "\033[0m";
  }

 private:
  std::string shade(float w) const {
    // Anything above zero leaves a trace, so that exact zeros (sparsemax, masks) can be told from small weights.
    if (unicode_) {
      constexpr std::array<const char*, 5> kShades = {"·", "░", "▒", "▓", "█"};
      return kShades[w < 0.005f ? 0 : static_cast<size_t>(std::min(1.0f + std::sqrt(w) * 4.0f, 4.0f))];
    }
    const std::string shades = ".:-=+*#%@";
    return {shades[w < 0.005f ? 0 : static_cast<size_t>(std::min(1.0f + std::sqrt(w) * 8.0f, 8.0f))]};
  }

  /// From nearly black through violet and orange to pale yellow: lightness rises evenly, so it reads in grey as well.
  std::string background(float w) const {
    static constexpr std::array<std::array<float, 3>, 5> kRamp = {
        {{24, 22, 32}, {87, 23, 110}, {188, 55, 84}, {249, 142, 9}, {252, 250, 164}}};
    const float place = std::sqrt(w) * (kRamp.size() - 1);  // small weights matter to the eye
    const size_t low = std::min(static_cast<size_t>(place), kRamp.size() - 2);
    std::array<int, 3> rgb{};
    for (size_t n = 0; n < 3; ++n)
      rgb[n] =
          static_cast<int>(std::lround(std::lerp(kRamp[low][n], kRamp[low + 1][n], place - static_cast<float>(low))));
    char code[32];
    if (full_colour_) {
      std::snprintf(code, sizeof code, "\033[48;2;%d;%d;%dm", rgb[0], rgb[1], rgb[2]);
    } else {  // the nearest colour of the 6 x 6 x 6 cube; its levels are 0, 95, 135, 175, 215, 255
      const auto level = [](int x) { return x < 48 ? 0 : x < 115 ? 1 : (x - 35) / 40; };
      std::snprintf(code, sizeof code, "\033[48;5;%dm", 16 + 36 * level(rgb[0]) + 6 * level(rgb[1]) + level(rgb[2]));
    }
    return code;
  }

  bool colour_ = false, full_colour_ = false, unicode_ = true;
};

/// One map, wide enough for the weights in percent.
inline void draw_large(const Terminal& terminal, const Map& map) {
  std::printf("      ");
  for (char c : map.cols) std::printf(" %s   ", terminal.bold(terminal.letter(c)).c_str());
  std::printf("\n");
  for (size_t r = 0; r < map.rows.size(); ++r) {
    std::printf("   %s  ", terminal.bold(terminal.letter(map.rows[r])).c_str());
    for (size_t c = 0; c < map.cols.size(); ++c) {
      char percent[16];
      std::snprintf(percent, sizeof percent, "%4.0f", static_cast<double>(100.0f * map.at(r, c)));
      std::printf("%s ", terminal.cell(map.at(r, c), map.at(r, c) < 0.005f ? "    " : percent).c_str());
    }
    std::printf("\n");
  }
}

/// Several maps beside each other.
inline void draw_small(const Terminal& terminal, const std::vector<Map>& maps) {
  const auto pad = [](size_t used, size_t width) { return std::string(width > used ? width - used : 1, ' '); };
  const auto width = [](const Map& map) { return 2 * map.cols.size() + 6; };
  std::printf("   ");
  for (const Map& map : maps)
    std::printf("%s%s", terminal.bold(map.title).c_str(), pad(map.title.size(), width(map)).c_str());
  std::printf("\n   ");
  for (const Map& map : maps) {
    std::printf("  ");
    for (char c : map.cols) std::printf("%s ", terminal.faint(terminal.letter(c)).c_str());
    std::printf("%s", pad(2 + 2 * map.cols.size(), width(map)).c_str());
  }
  std::printf("\n");
  for (size_t r = 0; r < maps.front().rows.size(); ++r) {
    std::printf("   ");
    for (const Map& map : maps) {
      std::printf("%s ", terminal.faint(terminal.letter(map.rows[r])).c_str());
      for (size_t c = 0; c < map.cols.size(); ++c) std::printf("%s", terminal.cell(map.at(r, c), "  ").c_str());
      std::printf("%s", pad(2 + 2 * map.cols.size(), width(map)).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace heat_map
