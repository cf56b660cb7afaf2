// WordPiece as others store it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/wordpiece.h"

namespace heed::imports {

struct WordPieceFiles {
  text::WordPieceParts parts;       // all but the tokens
  std::vector<std::string> tokens;  // by id; empty: no token has it
  std::set<int64_t> special;        // ids that no text is cut into
};

/// Whether a tokenizer.json, `json`, is one.
bool is_wordpiece(const file::Json& json);

/// tokenizer.json of the library tokenizers. Throws, naming the key, for what is not known here.
WordPieceFiles read_wordpiece_json(const file::Json& json, const std::string& file);

/// vocab.txt of BERT, and what tokenizer_config.json beside it says, if it is there.
WordPieceFiles read_vocab_txt(const std::filesystem::path& vocab);

}  // namespace heed::imports
