// The arrays of a batch, from a data set to the loss of a model: one type for every task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/carried.h"
#include "heed/data/source.h"
#include "heed/text/tokens.h"

namespace heed::data {

/// What a model should say: sequences one after another, without padding. Sequence s holds the rows
/// [offsets[s], offsets[s + 1]). For targets x y of a model that writes, and for labels:
///
///   in    <s> x y        what a decoder reads; labels have none
///   out   x y </s>       what it should write; labels: classes from 0, one for each source, for each of its tokens, or
///                        any number. -1: does not count, or is not known
struct Targets {
  std::vector<int32_t> in = {};        // [rows], or none
  std::vector<int32_t> out = {};       // [rows]
  std::vector<int64_t> offsets = {0};  // [sequences + 1], of both

  std::vector<int32_t> places = {};  // [rows] of tokens that a text lacks: which of its tokens, from 0
  std::vector<float> weights = {};   // [sequences] of labels in the loss
  bool are_sets = false;             // the labels of a source are a set, which is one prediction

  /// Given alignments: row r belongs to the source tokens aligned_sources[aligned_offsets[r]] to
  /// aligned_sources[aligned_offsets[r + 1]], numbered in their source. Both empty: there are none.
  std::vector<int64_t> aligned_offsets = {};  // [rows + 1]
  std::vector<int32_t> aligned_sources = {};

  int64_t size() const { return std::ssize(offsets) - 1; }  // sequences
  int64_t length(int64_t s) const { return offsets[static_cast<size_t>(s) + 1] - offsets[static_cast<size_t>(s)]; }
  /// The tokens between <s> and </s>, or the labels.
  void add_tokens(std::span<const int32_t> tokens, int32_t end = text::kEnd);
  void add_labels(std::span<const int32_t> labels);
};

struct Batch {
  Sources sources = {};  // [B], or none: running text has no sources
  Targets targets = {};

  /// Example b has the predictions [of_examples[b], of_examples[b + 1]), where these are not the rows of sequence b:
  /// a stretch of running text may be several sequences, and a set of labels is one prediction. [B + 1]
  std::vector<int64_t> of_examples = {};

  /// Running text, of each sequence: the place in the text where it goes on, and that after it; -1: of a document.
  std::vector<int64_t> begins = {}, ends = {};
  /// What a model looks back at is carried from the very beginning, not only from the stretch before: a text is judged.
  bool carries_all = false;

  /// What the sequences of this batch go on from; the loss of a model that carries a state returns what it leaves for
  /// the next ones. Null: every sequence begins anew, and leaves nothing.
  const RecurrentCarry* carried = nullptr;

  /// Updates of the training run before the one that this batch is for: costs whose weight falls read it.
  int64_t updates_before = 0;

  /// The predictions of each example. [B + 1]
  std::span<const int64_t> prediction_offsets() const { return of_examples.empty() ? targets.offsets : of_examples; }
};

}  // namespace heed::data
