// Texts with labels, as ids. A text is one sequence of tokens, or several: its sentences. Where two texts are judged
// together (does the second follow from the first?), the other is one sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/data/examples.h"

namespace heed::data {

/// The arrays of a batch: B texts of S sentences in all, one after the other, without padding.
struct PackedTexts final : PackedBatch {
  std::vector<int32_t> tokens;
  std::vector<int64_t> sentences = {0};   // [S + 1]: sentence s holds the tokens [sentences[s], sentences[s + 1])
  std::vector<int64_t> texts = {0};       // [B + 1]: text b holds the sentences [texts[b], texts[b + 1])
  std::vector<int32_t> second;            // tokens of the second texts
  std::vector<int64_t> seconds = {0};     // [B + 1]: second text b holds the tokens [seconds[b], seconds[b + 1])
  std::vector<int32_t> labels;            // classes from 0, one for each text or any number; -1: unknown
  std::vector<int64_t> label_sets = {0};  // [B + 1]: text b has the labels [label_sets[b], label_sets[b + 1])
  bool several_labels = false;            // else each text has exactly one
  std::vector<float> weights;             // [B] in the loss
  std::vector<int64_t> predictions = {0};

  int64_t size() const { return static_cast<int64_t>(texts.size()) - 1; }  // B
  std::span<const int64_t> prediction_offsets() const override { return predictions; }
};

struct LabelledText {
  std::span<const int32_t> tokens;
  std::span<const int32_t> lengths;      // of the sentences, which make up the tokens
  std::span<const int32_t> second = {};  // tokens of the second text; empty: there is none
  std::span<const int32_t> labels;
  float weight = 1.0f;
  int64_t line = 0;  // number in the file, from 1
};

class LabelledTexts final : public Dataset {
 public:
  explicit LabelledTexts(bool several_labels = false) : several_labels_(several_labels) {}

  void add(const LabelledText& text);

  int64_t size() const override { return tokens_.size(); }
  int64_t line_number(int64_t i) const override { return line_[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t) const override { return 1; }
  int64_t longest_sequence(int64_t i) const override;
  std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const override;
  std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const override;  // PackedTexts

  LabelledText operator[](int64_t i) const;
  void set_weight(int64_t i, float weight) { weight_[static_cast<size_t>(i)] = weight; }

 private:
  bool several_labels_;
  Sequences tokens_, lengths_, second_, labels_;
  std::vector<float> weight_;
  std::vector<int64_t> line_;
};

}  // namespace heed::data
