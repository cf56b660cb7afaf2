// Pieces with scores, joined best score first, and bytes for what no piece has: the tokeniser of llama2.c, and how
// SentencePiece cuts with a BPE model. A blank is put before a text; a text holds line ends like other characters.
//
// The file: the line "scored_bpe", the lines <unk>, <s> and </s>, and for each further piece its score, a blank, and
// the piece (escape.h). Pieces <0x00> to <0xFF> are bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::text {

inline const std::string kScoredBpe = "scored_bpe";

struct ScoredPiece {
  std::string piece;
  float score;
};

/// What the file of a tokeniser with these pieces holds: ids from kSpecials on. Throws if one is empty or no UTF-8.
std::string scored_bpe_contents(const std::vector<ScoredPiece>& pieces);

std::shared_ptr<const Tokeniser> parse_scored_bpe(std::string_view contents, std::string_view name);

}  // namespace heed::text
