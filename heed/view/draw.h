// What a model attended to -> a drawing: a matrix, a text shaded by its weights, a picture with its cells, or a
// spectrogram with the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/view/document.h"
#include "heed/view/drawing.h"

namespace heed::view {

/// Weights between tokens: the keys across, the queries down, more colour for more weight.
struct Matrix {
  std::string title;
  std::vector<std::string> columns;  // labels
  std::vector<std::string> rows;
  std::vector<float> weights;  // [rows, columns]
  std::string caption = {};    // above it; empty: none
  bool legend = false;         // below it: which colour is how much
};
Drawing drawing_of(const Matrix& matrix);

/// A text whose words are shaded by their weights, each beside the largest of its passage.
struct Passage {
  std::string label;    // before it: "12.3 %"
  double strength = 0;  // from 0 to 1, of the label
  std::vector<Word> words = {};
};
struct ShadedText {
  std::string title, caption;
  std::vector<Passage> passages;
};
Drawing drawing_of(const ShadedText& text);

/// A picture, and once more for each row of weights: dark where it was not looked at, with a frame around the cell that
/// has the most.
struct PicturePanels {
  std::string title, caption;
  const SeenPicture& picture;
  std::vector<std::string> labels;  // of the rows
  std::vector<float> weights;       // [rows, cells]
};
Drawing drawing_of(const PicturePanels& panels);

/// The spectrogram of a recording, with a row of weights below it for each token, and the time.
struct RecordingPanels {
  std::string title, caption;
  const SeenRecording& recording;
  std::vector<std::string> labels;  // of the rows
  std::vector<float> weights;       // [rows, moments]
};
Drawing drawing_of(const RecordingPanels& panels);

/// One attention of an example, or (null) what a reader wants first: the words and sentences that decided, the picture,
/// or Example::main_map(). `head`: from 0, or -1 for the mean of all. Throws if the example has no attention.
Drawing drawing_of(const Example& example, const Map* map = nullptr, int64_t head = -1);

/// "attention to the source, layer 2 (decoder.1.source), mean of 2 heads"
std::string heading_of(const Map& map, int64_t head);

}  // namespace heed::view
