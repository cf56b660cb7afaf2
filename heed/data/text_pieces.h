// Running text for a model of the next token: documents one after another, cut into pieces of equal length.
//
//   <s> a line <s> the next line </s> <s> another document </s>
//
// <s> stands before every line, </s> after every document. A token predicts the one after it, and a document never sees
// another: where one ends inside a piece, the piece ends too. An example is a stretch of `length` tokens; its number is
// the place of its first token, because the cuts differ from epoch to epoch. This is what a model is trained on; how a
// text is judged: text_windows.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/data/token_store.h"

namespace heed::data {

struct PieceOptions {
  int64_t length = 256;  // tokens of a stretch
  /// A stretch goes on where the last one ended: batch after batch reads the same streams. If not, stretches come in
  /// any order.
  bool carried = false;
};

class TextPieces final : public Dataset {
 public:
  /// `characters`: of the text behind the tokens.
  TextPieces(std::shared_ptr<const TokenStore> tokens, int64_t characters, const PieceOptions& options);

  int64_t size() const override;
  int64_t line_number(int64_t) const override { return 1; }
  int64_t predictions(int64_t place) const override;
  int64_t longest_sequence(int64_t) const override { return options_.length; }
  int64_t characters() const override { return characters_; }
  std::vector<Indices> batches(const BatchOptions& options, int64_t epoch) const override;
  /// A sequence is a piece: a part of one document. Targets that are -1 are only seen, not predicted from.
  Batch pack(std::span<const int64_t> places) const override;

 private:
  /// The end of the stretch that begins here: the last token of the text predicts nothing.
  int64_t end_of(int64_t place) const;

  std::shared_ptr<const TokenStore> tokens_;
  int64_t characters_;
  PieceOptions options_;
};

}  // namespace heed::data
