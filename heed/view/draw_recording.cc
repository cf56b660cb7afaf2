#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/view/draw.h"
#include "heed/view/layout.h"

namespace heed::view {

namespace {

constexpr int kNarrowest = 320, kWidest = 1200, kMoment = 14;  // pixels: of the spectrogram, and for a row of memory
constexpr int kHigh = 120, kRow = 16;                          // of the spectrogram, and of a row of weights
constexpr int kBetweenTimes = 56;
constexpr size_t kLongestRowLabel = 24;  // columns

/// Seconds from one mark to the next: 1, 2 or 5 times a power of ten.
double step_for(double seconds, int width) {
  const double least = seconds * kBetweenTimes / width;
  double step = 0.01;
  for (int i = 0; step < least; ++i) step *= i % 3 == 1 ? 2.5 : 2.0;
  return step;
}

void add_times(Drawing& drawing, Box below, double seconds) {
  const double step = step_for(seconds, below.width);
  for (int i = 0; i * step <= seconds; ++i) {
    const int x = below.x + static_cast<int>(i * step / seconds * below.width);
    drawing.shapes.push_back(Fill{{x, below.y, 1, 4}, Ink::faint});
    drawing.shapes.push_back(Label{.text = fmt::format("{:g} s", i * step),
                                   .x = x,
                                   .y = below.y + kLine,
                                   .room = kBetweenTimes,
                                   .anchor = i == 0 ? Anchor::start : Anchor::middle,
                                   .ink = Ink::faint});
  }
}

}  // namespace

Drawing drawing_of(const RecordingPanels& panels) {
  const int rows = static_cast<int>(panels.labels.size());
  const int moments = rows == 0 ? 0 : static_cast<int>(panels.weights.size()) / rows;
  expect(moments > 0 && panels.weights.size() == static_cast<size_t>(rows) * static_cast<size_t>(moments),
         ErrorKind::bug, "view: {} weights for {} rows", panels.weights.size(), rows);
  int beside = kTextColumn;
  for (const std::string& label : panels.labels)
    beside = std::max(beside, room_of(token_label(label, kLongestRowLabel)));
  const int left = beside + 2 * kGap, width = std::clamp(moments * kMoment, kNarrowest, kWidest);
  Drawing drawing{.title = panels.title, .width = left + width + kBetweenTimes / 2, .pictures = {panels.recording.png}};
  const int top = add_caption(drawing, panels.caption) + kGap;
  drawing.shapes.push_back(Image{.box = {left, top, width, kHigh}});
  int y = top + kHigh + kGap;
  for (int row = 0; row < rows; ++row, y += kRow) {
    drawing.shapes.push_back(Label{.text = token_label(panels.labels[static_cast<size_t>(row)], kLongestRowLabel),
                                   .x = left - kGap,
                                   .y = y + kRow - 4,
                                   .room = beside,
                                   .anchor = Anchor::end});
    drawing.shapes.push_back(Fill{{left, y, width, kRow - 1}, Ink::frame});
    for (int m = 0; m < moments; ++m) {
      const float weight = panels.weights[static_cast<size_t>(row * moments + m)];
      const double shown = std::sqrt(std::clamp(static_cast<double>(weight), 0.0, 1.0));
      const int begin = m * width / moments, end = (m + 1) * width / moments;
      if (shown >= 0.07) drawing.shapes.push_back(Fill{{left + begin, y, end - begin, kRow - 1}, Ink::on, shown});
    }
  }
  add_times(drawing, {left, y, width, kLine}, panels.recording.seconds);
  drawing.height = y + kLine + kGap;
  return drawing;
}

}  // namespace heed::view
