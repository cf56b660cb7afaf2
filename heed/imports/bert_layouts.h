// How encoders like BERT are stored: the keys of config.json and the names of tensors, for each architecture.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/imports/rules.h"

namespace heed::imports {

struct BertLayout {
  const char* type;  // model_type
  const char* name;
  const char* prefix;                           // of the tensors of the encoder, in models with a head
  const char *width, *hidden, *layers, *heads;  // keys
  const char *activation, *activation_missing;  // a key, and its value where it is missing
  bool token_types = true;
  bool skips_padding = false;  // positions are counted from behind that of padding
  bool shared_layers = false;
  std::span<const Rule> blocks;          // of the layers
  std::span<const Rule> masked;          // of the head for masked tokens, but for its table
  std::string_view output, output_bias;  // that table, if it is not that of the vectors, and its biases
  std::span<const Rule> labels;          // of the head for labels; the last one is for the biases of the output
  const char* pool_layer;                // in that head: model.pool_layer
};

/// The norm of the vectors of tokens.
inline constexpr Rule kBertVectors[] = {{"source.norm.gain", "embeddings.LayerNorm.weight"},
                                        {"source.norm.bias", "embeddings.LayerNorm.bias"}};
/// And what widens them.
inline constexpr Rule kAlbertWiden[] = {{"source.widen.weight", "encoder.embedding_hidden_mapping_in.weight"},
                                        {"source.widen.bias", "encoder.embedding_hidden_mapping_in.bias"}};

/// By the model_type that it has.
const BertLayout& bert_layout(std::string_view type);
std::vector<std::string> bert_types();

}  // namespace heed::imports
