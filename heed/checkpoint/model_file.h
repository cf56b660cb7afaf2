// A model in one file, as `heed export` writes it: its weights in the safetensors format, and all else in the metadata.
//
//   "format": "heed model 1"
//   "sha256": of every byte of the file, counted with 64 zeros in place of these 64 digits
//   "model.toml", "config.toml", "source.vocab", ...: the other parts of a checkpoint, as texts
//   "source.vocab.hex": a part that is not UTF-8 (a SentencePiece model), as hexadecimal digits
//
// Other programs that read safetensors read the weights too. A file that one of them has written again is refused.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "heed/base/disk.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/tensor_stream.h"

namespace heed::file {

/// The parts of a checkpoint without its weights: name -> bytes.
using ModelTexts = std::map<std::string, std::string, std::less<>>;

/// It is there completely or not at all. Throws where a name cannot be that of a part.
void write_model_file(const std::filesystem::path& path, const ModelTexts& texts,
                      std::span<const TensorToWrite> weights);

/// A file that was opened, and whose every byte was compared with its SHA-256; they are again whenever the weights are
/// read. It stays open: what has its name later does not matter.
/// Threads: one at a time.
class ModelFile {
 public:
  /// Throws where it is no model, of a newer format, cut off or changed.
  explicit ModelFile(const std::filesystem::path& path);

  uint64_t size() const { return input_.size(); }
  const ModelTexts& texts() const { return texts_; }
  Safetensors weights() const;
  /// The weights one after the other, as file::load().
  void load(Parameters& parameters, const Loaded& loaded = {}) const;

 private:
  std::string name_;
  mutable InputFile input_;
  ModelTexts texts_;
};

/// Does the file begin as one in the safetensors format does? No text begins so. False where it cannot be read.
bool begins_as_safetensors(const std::filesystem::path& path);
/// Does it call itself a model of heed, in any version of the format, damaged or not?
bool is_model_file(const std::filesystem::path& path);

}  // namespace heed::file
