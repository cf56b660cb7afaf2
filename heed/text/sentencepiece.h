// The library SentencePiece as a Tokeniser. This header does not expose the library.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "heed/text/tokeniser.h"

namespace heed::text {

inline const std::string kSentencePiece = "sentencepiece";

std::shared_ptr<const Tokeniser> train_sentencepiece(std::span<const std::string_view> sentences,
                                                     const TokeniserOptions& options);

/// From the bytes of a model file, whose first three pieces must be <unk>, <s> and </s>, as train_sentencepiece and the
/// program spm_train make them.
std::shared_ptr<const Tokeniser> parse_sentencepiece(std::string_view contents, std::string_view name);

}  // namespace heed::text
