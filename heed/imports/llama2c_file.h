// The files of llama2.c (version 0): a model, and its tokeniser.
//
//   model      7 int32: width, hidden, layers, heads, heads of keys and values, tokens (below 0: the output has a table
//   of
//              its own), longest sequence; then float32 in a fixed order
//   tokeniser  int32 longest piece, then for each: float32 score, int32 length, the bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/imports/tensors.h"
#include "heed/text/scored_bpe.h"

namespace heed::imports {

struct Llama2cSizes {
  int32_t width, hidden, layers, heads, kv_heads, tokens, longest;
  bool own_output;
};

struct Llama2cFile {
  Llama2cSizes sizes;
  ForeignTensors tensors;  // by the names of llama2.c, those of layers with a number: "wq.0"
};

/// Whether a file of `size` bytes that begins with these 28 is a model: its size follows from them.
bool is_llama2c(std::span<const std::byte> header, uint64_t size);

Llama2cFile parse_llama2c(std::shared_ptr<const std::vector<std::byte>> bytes, const std::string& file);
std::vector<text::ScoredPiece> parse_llama2c_pieces(std::span<const std::byte> bytes, const std::string& file);

}  // namespace heed::imports
