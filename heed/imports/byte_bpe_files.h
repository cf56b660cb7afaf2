// Byte-level BPE as others store it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "heed/text/byte_bpe.h"

namespace heed::imports {

struct ByteBpeFiles {
  text::ByteBpeParts parts;         // all but the tokens
  std::vector<std::string> tokens;  // by id; empty: no token has it
  std::set<int64_t> special;        // ids that no text is cut into
};

/// tokenizer.json of the library tokenizers. Throws, naming the key, for what is no byte-level BPE, or for one that
/// cuts in a way that is not known here.
ByteBpeFiles read_tokenizer_json(const std::filesystem::path& path);

/// vocab.json and merges.txt of GPT-2.
ByteBpeFiles read_vocab_and_merges(const std::filesystem::path& vocab, const std::filesystem::path& merges);

}  // namespace heed::imports
