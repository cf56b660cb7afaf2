// Texts with labels, as ids. A text is one sequence of tokens, or several: its sentences.
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
  std::vector<int64_t> sentences = {0};  // [S + 1]: sentence s holds the tokens [sentences[s], sentences[s + 1])
  std::vector<int64_t> texts = {0};      // [B + 1]: text b holds the sentences [texts[b], texts[b + 1])
  std::vector<int32_t> labels;           // [B]: a class from 0; -1: unknown, and not counted
  std::vector<int64_t> predictions = {0};

  int64_t size() const { return static_cast<int64_t>(texts.size()) - 1; }  // B
  std::span<const int64_t> prediction_offsets() const override { return predictions; }
};

class LabelledTexts final : public Dataset {
 public:
  /// `lengths`: of the sentences, which make up the tokens.
  void add(std::span<const int32_t> tokens, std::span<const int32_t> lengths, int32_t label, int64_t line);

  int64_t size() const override { return tokens_.size(); }
  int64_t line_number(int64_t i) const override { return line_[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t) const override { return 1; }
  int64_t longest_sequence(int64_t i) const override;
  std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const override;
  std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const override;  // PackedTexts

  std::span<const int32_t> tokens(int64_t i) const { return tokens_[i]; }
  std::span<const int32_t> sentence_lengths(int64_t i) const { return lengths_[i]; }
  int32_t label(int64_t i) const { return label_[static_cast<size_t>(i)]; }

 private:
  Sequences tokens_, lengths_;
  std::vector<int32_t> label_;
  std::vector<int64_t> line_;
};

}  // namespace heed::data
