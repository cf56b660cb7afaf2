// Texts from which tokens are taken away, and the tokens that stood there: what a model of masked tokens learns from.
// Devlin et al. 2019
//
// Of the tokens of a text a share is chosen, at least one. Most of them are masked, some become another token, and the
// rest stay as they are, so that a model cannot tell which tokens it will be asked about:
//
//   the text     the dog runs on the beach
//   reads        the  _  runs on the apple        _: the mask, embed::kBlank
//   predicts         dog             beach
//
// What is chosen depends on the seed, the text and the epoch alone: other tokens in every epoch (Liu et al. 2019), and
// the same ones in every validation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/data/options.h"
#include "heed/task/language_model/token_store.h"

namespace heed::task {

struct MaskedTextOptions {
  int64_t length = 256;  // a longer document is cut into texts of nearly equal length, at most this
  data::MaskOptions masks = {};
  int32_t vocabulary = 0;  // tokens, of which others are drawn
  uint64_t seed = 0;       //
  bool changes = true;     // from epoch to epoch
  bool framed = false;     // <s> and </s> stand around a text, and count
};

class MaskedTexts final : public data::Dataset {
 public:
  /// `tokens`: <s> before every line, </s> after every document (text_pieces.h). The <s> between two lines stays; those
  /// at the beginning of a document, and </s>, are left out.
  MaskedTexts(std::shared_ptr<const TokenStore> tokens, const MaskedTextOptions& options);

  /// Texts; those without a token that can be asked about are left out. An example of epoch e has the number
  /// e * size() + text.
  int64_t size() const override { return std::ssize(texts_); }
  int64_t line_number(int64_t) const override { return 1; }
  int64_t predictions(int64_t example) const override;
  int64_t longest_sequence(int64_t example) const override { return text_of(example).length() + ends(); }
  std::vector<data::Indices> batches(const data::BatchOptions& options, int64_t epoch) const override;
  data::Batch pack(std::span<const int64_t> examples) const override;

 private:
  struct Text {
    int64_t begin = 0, end = 0;  // among all tokens
    int64_t can_be_asked = 0;    // tokens but for <s> and those that are not in the vocabulary
    int64_t length() const { return end - begin; }
  };
  const Text& text_of(int64_t example) const { return texts_[static_cast<size_t>(example % size())]; }
  int64_t ends() const { return options_.framed ? 2 : 0; }
  void add_document(int64_t begin, int64_t end);

  std::shared_ptr<const TokenStore> tokens_;
  MaskedTextOptions options_;
  std::vector<Text> texts_;
};

/// [tokens] Whether a model may be asked about a token: not about what no vocabulary holds.
bool can_be_asked(int32_t token);

}  // namespace heed::task
