// Sources with the tokens that should be written for them: pairs of texts, pictures with answers, recordings with
// words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/data/alignments.h"
#include "heed/data/dataset.h"
#include "heed/data/pairs.h"
#include "heed/data/report.h"
#include "heed/text/tokeniser.h"

namespace heed::data {

class Examples final : public Dataset {
 public:
  Examples() = default;
  /// `cells`: the rows that a model makes of a picture; a batch is measured by them. `numbers_of_row`: of rows of
  /// numbers, those that become one row of a model; 0: there are none.
  explicit Examples(int64_t cells, int64_t numbers_of_row = 0) : cells_(cells), numbers_of_row_(numbers_of_row) {}

  Sources source;
  Sequences target;           // without <s> and </s>
  AlignmentLists links;       // given alignments: of each example, or of none
  std::vector<int64_t> line;  // number in the file, from 1

  int64_t size() const override { return source.size(); }
  int64_t line_number(int64_t i) const override { return line[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t i) const override { return target.length(i) + 1; }  // </s> too
  int64_t longest_sequence(int64_t i) const override { return std::max(source.tokens.length(i), target.length(i) + 1); }
  std::vector<Indices> batches(const BatchOptions& options, int64_t epoch) const override;
  Batch pack(std::span<const int64_t> examples) const override;

 private:
  int64_t cells_ = 0, numbers_of_row_ = 0;
};

struct EncodeOptions {
  int64_t max_source = 0;  // tokens; a pair with a longer side is left out and counted; 0: no limit
  int64_t max_target = 0;
  bool by_sentence = false;  // sources are cut into sentences, for models that weigh them
  bool copies = false;       // the model copies words: it learns what the tokens of a source are as those of the target
};

/// The tokens of a text that is cut into sentences first, and how many each of them has.
struct SentenceTokens {
  std::vector<int32_t> tokens, lengths;
};
SentenceTokens encode_sentences(std::string_view text, const text::Tokeniser& tokeniser);

struct Tokenisers {
  const text::Tokeniser& source;
  const text::Tokeniser& target;  // may be the same one
};

/// Pairs that are too long, or with an empty side, are left out and move from `kept` to `dropped` in the report filled
/// by read_pairs().
Examples encode_pairs(const Pairs& pairs, const Tokenisers& tokenisers, const EncodeOptions& options, Report& report);

}  // namespace heed::data
