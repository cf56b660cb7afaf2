// The arrays of a batch of pairs: the sequences one after the other, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/examples.h"

namespace heed::data {

/// Sequence b holds [offsets[b], offsets[b + 1]) of its side; for a source a b c and a target x y:
///
///   source      a b c
///   target_in   <s> x y      what the decoder reads
///   target_out  x y </s>     what it should write
struct PackedPairs final : PackedBatch {
  std::vector<int32_t> source;          // [source tokens]
  std::vector<int64_t> source_offsets;  // [B + 1]
  std::vector<int32_t> target_in;       // [target tokens]
  std::vector<int32_t> target_out;      // [target tokens]
  std::vector<int64_t> target_offsets;  // [B + 1], of both

  /// Given alignments: row r of target_out belongs to the source tokens link_sources[link_offsets[r]] to
  /// link_sources[link_offsets[r + 1]], numbered in their sentence. Both empty: there are none.
  std::vector<int64_t> link_offsets;  // [target tokens + 1]
  std::vector<int32_t> link_sources;

  int64_t size() const { return static_cast<int64_t>(source_offsets.size()) - 1; }  // B
  std::span<const int64_t> prediction_offsets() const override { return target_offsets; }
};

/// The examples with these indices, in this order.
PackedPairs pack_pairs(const Examples& examples, std::span<const int64_t> indices);

/// Sources alone, for translating: the target's arrays hold no token.
PackedPairs pack_sources(const Sequences& sources, std::span<const int64_t> indices);

}  // namespace heed::data
