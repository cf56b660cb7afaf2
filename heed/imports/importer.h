// Models that other programs trained, as models of heed: the same numbers, so that they answer the same.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/checkpoint/trained_model.h"

namespace heed::imports {

struct Imported {
  trained::TrainedModel model;
  std::vector<std::pair<const char*, std::string>> found = {};  // for people: "layers", "5"
  std::vector<std::string> left = {};  // tensors that are not needed here, each with the reason
};

struct ImportOptions {
  std::filesystem::path tokeniser = {};  // a file; empty: the one beside the model
};

/// A format of models.
struct Importer {
  const char* name;
  const char* meaning;
  /// From names and first bytes alone.
  bool (*recognises)(const std::filesystem::path& path);
  /// Trusts no file. Throws for what is damaged, and for what a model here cannot hold: with the name of the tensor or
  /// key, and what it would need.
  Imported (*read)(const std::filesystem::path& path, const ImportOptions& options);
};

// The list: a new format is one file and one line here.
#define HEED_IMPORTERS(X) X(ctranslate2) X(llama2c) X(gpt2) X(llama) X(bert) X(opennmt)

#define HEED_DECLARE(name) extern const Importer name##_importer;
HEED_IMPORTERS(HEED_DECLARE)
#undef HEED_DECLARE

const std::vector<const Importer*>& all();

/// By the importer that recognises it. Throws, naming the formats, if none does.
Imported read(const std::filesystem::path& path, const ImportOptions& options, const Importer** which = nullptr);

}  // namespace heed::imports
