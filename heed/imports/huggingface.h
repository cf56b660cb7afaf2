// Folders of Hugging Face's transformers: config.json, safetensors (also in several files), and a tokeniser.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/imports/importer.h"
#include "heed/imports/json_file.h"
#include "heed/imports/tensors.h"
#include "heed/imports/token_order.h"
#include "heed/text/tokeniser.h"

namespace heed::imports {

/// Whether config.json of a folder names one of these as its model_type.
bool is_huggingface(const std::filesystem::path& folder, const std::vector<std::string>& model_types);

/// Of model.safetensors, or of all files of model.safetensors.index.json. `prefix`: left off the names that have it.
ForeignTensors read_huggingface_tensors(const std::filesystem::path& folder, std::string_view prefix);

/// What README.md says of the licence, at its beginning: "license: mit". Empty: nothing.
std::string huggingface_licence(const std::filesystem::path& folder);

/// How texts are cut, and in which order the tokens of the model come.
struct HuggingFaceTokens {
  std::shared_ptr<const text::Tokeniser> tokeniser;
  TokenOrder order;
  std::string file;                  // that says it
  std::optional<int64_t> mask = {};  // of encoders: the id there of the token that stands for what is missing
};

/// Byte-level BPE from tokenizer.json, or from vocab.json and merges.txt, or the pieces of SentencePiece's
/// tokenizer.model. `named`: that file instead, if not empty. What a text begins and ends with: bos_token_id and
/// eos_token_id of the model.
HuggingFaceTokens read_huggingface_tokens(const std::filesystem::path& folder, const std::filesystem::path& named,
                                          const JsonFile& config);

/// Of an encoder: WordPiece from tokenizer.json or vocab.txt, or byte-level BPE. A text begins with [CLS] or <s>, and
/// ends with [SEP] or </s>.
HuggingFaceTokens read_encoder_tokens(const std::filesystem::path& folder, const std::filesystem::path& named,
                                      const JsonFile& config);

/// The activation of feed-forward layers that `key` names, as it is called here. Throws if no layer has it.
std::string activation_of(const JsonFile& config, const char* key, const char* missing);

/// What every importer of this layout says of a model, beside what it found itself.
void tell_huggingface(Imported& imported, const std::filesystem::path& folder, const HuggingFaceTokens& tokens);

}  // namespace heed::imports
