// What a token of a running text sees when the text is judged, looked at or continued: the same rule for all of them.
//
// A document is read in windows. The first has `length` tokens, and each later one begins `stride` tokens after the one
// before it; a token is predicted in the first window that reads the token before it. So each is predicted exactly
// once, from at least length - stride + 1 and at most `length` tokens before it (fewer only where the document begins),
// and what it sees depends neither on other documents nor on what follows it.
//
//   length 4, stride 2     <s> a b c d e f g h        stride = length: stretches side by side, each with one token
//   window 0               <s> a b c                  before the first that it predicts, as the rolling
//   window 1                     b c d e              log-likelihood of lm-evaluation-harness cuts a text (but for its
//   window 2                         d e f g          last window, which is moved back until it is full)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/data/token_store.h"

namespace heed::data {

struct WindowRule {
  int64_t length = 256;  // tokens of a window
  int64_t stride = 128;  // from window to window, at most the length
  /// A recurrent model reads a window piece by piece, this many tokens at a time, and carries its states from each to
  /// the next. 0: a window is read at once.
  int64_t piece = 0;

  /// Where the window begins in which the token at `place`, counted from the start of the document, is read for the
  /// first time.
  int64_t begin_of(int64_t place) const { return place < length ? 0 : ((place - length) / stride + 1) * stride; }
};

/// A part of a document that is read at once: the tokens [begin, end), of which [first, end) predict the one after
/// them.
struct TextWindow {
  int64_t begin = 0, first = 0, end = 0;
  bool goes_on = false;       // from the states that the part before left
  bool is_continued = false;  // the next part goes on from its states
};

/// The parts of a document that has this many tokens to predict from, in their order.
std::vector<TextWindow> windows_of(int64_t tokens, const WindowRule& rule);

/// Which parts of several documents are read together: [batches][parts], as indices. A part that goes on follows the
/// one before it in the next batch. No batch has more than `max_tokens` tokens, unless it is a single part.
std::vector<Indices> batches_of(std::span<const TextWindow> windows, int64_t max_tokens);

/// Adds a part of a document, whose tokens are `document`, to a batch. `place`: of its first token among all documents.
void add_window(Batch& batch, std::span<const int32_t> document, const TextWindow& window, int64_t place);

/// The documents of a text, to be judged. An example is a part.
class TextWindows final : public Dataset {
 public:
  /// `tokens`: <s> before every line, </s> after every document. `characters`: of the text behind them.
  TextWindows(std::shared_ptr<const TokenStore> tokens, int64_t characters, const WindowRule& rule);

  int64_t size() const override { return std::ssize(windows_); }
  int64_t line_number(int64_t) const override { return 1; }
  int64_t predictions(int64_t example) const override;
  int64_t longest_sequence(int64_t example) const override;
  int64_t characters() const override { return characters_; }
  std::vector<Indices> batches(const BatchOptions& options, int64_t epoch) const override;  // never shuffled
  Batch pack(std::span<const int64_t> examples) const override;

 private:
  std::shared_ptr<const TokenStore> tokens_;
  int64_t characters_;
  std::vector<TextWindow> windows_;  // of all documents, places among all tokens
};

}  // namespace heed::data
