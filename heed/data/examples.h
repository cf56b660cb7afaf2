// Pairs as ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/alignments.h"
#include "heed/data/dataset.h"
#include "heed/data/pairs.h"
#include "heed/data/report.h"
#include "heed/text/tokeniser.h"

namespace heed::data {

/// Sequences of ids in one array: sequence i holds ids[offsets[i]] to ids[offsets[i + 1]]. Millions of small vectors
/// would take two to three times the memory.
class Sequences {
 public:
  int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t length(int64_t i) const { return offsets_[static_cast<size_t>(i) + 1] - offsets_[static_cast<size_t>(i)]; }
  std::span<const int32_t> operator[](int64_t i) const {
    return std::span(ids_).subspan(static_cast<size_t>(offsets_[static_cast<size_t>(i)]),
                                   static_cast<size_t>(length(i)));
  }
  void add(std::span<const int32_t> ids);

 private:
  std::vector<int32_t> ids_;
  std::vector<int64_t> offsets_{0};
};

class Examples final : public Dataset {
 public:
  Sequences source, target;   // without <s> and </s>
  LinkLists links;            // given alignments: of each example, or of none
  std::vector<int64_t> line;  // number in the file, from 1

  int64_t size() const override { return source.size(); }
  int64_t line_number(int64_t i) const override { return line[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t i) const override { return target.length(i) + 1; }  // </s> too
  int64_t longest_sequence(int64_t i) const override { return std::max(source.length(i), target.length(i) + 1); }
  std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const override;
  std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const override;  // PackedPairs
};

Lengths lengths_of(const Examples& examples);  // the targets with their </s>

struct EncodeOptions {
  int64_t max_source = 0;  // tokens; a pair with a longer side is left out and counted; 0: no limit
  int64_t max_target = 0;
};

struct Tokenisers {
  const text::Tokeniser& source;
  const text::Tokeniser& target;  // may be the same one
};

/// Pairs that are too long, or with an empty side, are left out and move from `kept` to `dropped` in the report filled
/// by read_pairs().
Examples encode_pairs(const Pairs& pairs, const Tokenisers& tokenisers, const EncodeOptions& options, Report& report);

}  // namespace heed::data
