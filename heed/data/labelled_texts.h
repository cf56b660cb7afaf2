// Texts with labels, as ids. A text is one sequence of tokens, or several: its sentences. Where two texts are judged
// together (does the second follow from the first?), the other is one sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/dataset.h"

namespace heed::data {

struct LabelledText {
  Source source;                         // a text, perhaps its sentences, perhaps a second text
  std::span<const int32_t> labels = {};  // classes from 0; -1: unknown
  float weight = 1.0f;                   // in the loss
  int64_t line = 0;                      // number in the file, from 1
};

class LabelledTexts final : public Dataset {
 public:
  /// With several labels, a text may have any number of them; otherwise each has exactly one.
  explicit LabelledTexts(bool several_labels = false) : several_labels_(several_labels) {}

  void add(const LabelledText& text);

  int64_t size() const override { return sources_.size(); }
  int64_t line_number(int64_t i) const override { return line_[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t) const override { return 1; }
  int64_t longest_sequence(int64_t i) const override;
  std::vector<Indices> batches(const BatchOptions& options, int64_t epoch) const override;
  Batch pack(std::span<const int64_t> examples) const override;

  LabelledText operator[](int64_t i) const;
  void set_weight(int64_t i, float weight) { weight_[static_cast<size_t>(i)] = weight; }

 private:
  bool several_labels_;
  Sources sources_;
  Sequences labels_;
  std::vector<float> weight_;
  std::vector<int64_t> line_;
};

}  // namespace heed::data
