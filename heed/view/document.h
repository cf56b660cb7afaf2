// What a model attended to, ready to be drawn: the tokens, and a map of weights for every attention inside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::view {

/// Tokens that attention looks from or at.
struct Sequence {
  std::string name;  // "source": what maps call it
  std::string label;
  std::vector<std::string> tokens;
};

/// The weights of one attention, of all its heads.
struct Map {
  std::string name = {};                // where it is in the model: "decoder.0.source"
  std::string label = {};               // "layer 1"
  std::string group = {};               // what it does: "attention to the source"
  int64_t layer = 0;                    // among those of its group
  std::string queries = {}, keys = {};  // names of sequences
  int64_t heads = 0, rows = 0, columns = 0;
  std::vector<float> weights = {};  // [heads, rows, columns]

  float at(int64_t head, int64_t row, int64_t column) const {
    return weights[static_cast<size_t>((head * rows + row) * columns + column)];
  }
  /// [rows, columns] of one head, from 0, or (-1) the mean of all.
  std::vector<float> of_head(int64_t head) const;
  /// [columns]: the mean of the rows of that.
  std::vector<float> mean_row(int64_t head) const;
};

struct Word {
  std::string text;
  float weight = 0;
};
struct Sentence {
  float weight = 0;
  std::vector<Word> words = {};
};

/// A picture that attention looked at, with the cells that its weights are about.
struct SeenPicture {
  std::string png;  // the bytes of the file
  int64_t rows = 0, columns = 0;
  int64_t height = 0, width = 0;  // in pixels
};

/// A recording that attention looked at, as its spectrogram: time from left to right, low bands below.
struct SeenRecording {
  std::string png;
  double seconds = 0;  // that the rows of its memory stand for
};

/// A hypothesis of the search: its last token, and the node of what comes before.
struct BeamNode {
  int64_t parent = -1;  // -1: this is the first
  std::string token = {};
  double score = 0;       // log p of all tokens up to here, which hypotheses are ordered by
  bool kept = false;      // it survived its step
  bool finished = false;  // an output, or one that others beat in the end
  double ranked_by = 0;   // of finished ones and of outputs: the score that they are ranked by
  int64_t rank = 0;       // among the outputs of the search, from 1; 0: it is none of them
};

/// What a search considered.
struct Beam {
  std::vector<BeamNode> nodes = {};  // a parent comes before its children
  std::string keys = {};             // the sequence that steps looked at; empty: none
  std::vector<float> weights = {};   // [nodes, keys]: where the step looked that wrote its token; zeros of the first
};

struct Example {
  int64_t model = 0;  // among those of the document
  std::string input, output;
  double log_probability = 0;
  std::optional<std::string> reference = {};  // the right output, where it is known
  std::vector<Sequence> sequences = {};
  std::vector<Map> maps = {};            // in the order of the model
  std::vector<Sentence> sentences = {};  // a text by the weights that decided its label; otherwise empty
  std::optional<SeenPicture> picture = {};
  std::optional<SeenRecording> recording = {};  // the sequence "source" is its times; for drawings
  std::optional<Beam> beam = {};                // of a search with a beam, or on request

  const Sequence& sequence(const std::string& name) const;  // throws if there is none
  const Map* find(const std::string& map) const;            // or null
  /// What to look at first: the attention to the source, or what a text is pooled by, or the last layer. Null: none.
  const Map* main_map() const;
};

struct ModelName {
  std::string name, task, kind, about;
};

struct Document {
  std::string title;
  std::vector<ModelName> models;
  std::vector<Example> examples;
};

}  // namespace heed::view
