#include "heed/imports/huggingface.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/imports/byte_bpe_files.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;
using file::Json;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

void add_all(ForeignTensors& to, const std::shared_ptr<const file::Safetensors>& from, const file::StoredTensor& tensor,
             std::string_view prefix) {
  std::string name = tensor.name;
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  to.add(name, {tensor.shape, [from, &tensor] { return from->values(tensor.name); }});
}

/// What is a plain name of a file beside the index.
void expect_plain(const std::string& name, const fs::path& index) {
  const bool plain = !name.empty() && name.find('/') == std::string::npos && name.find('\\') == std::string::npos &&
                     name.ends_with(".safetensors");
  expect(plain, ErrorKind::file, "'{}' names '{}', which is no safetensors file beside it", index.string(), name);
}

/// The name of the file of each tensor.
std::map<std::string, std::string> weight_map(const fs::path& index) {
  const Json json = read_json(index);
  const Json* map = json.find("weight_map");
  const auto* members = map ? map->as<Json::Members>() : nullptr;
  expect(members != nullptr, ErrorKind::file, "'{}' has no weight_map", index.string());
  std::map<std::string, std::string> files;
  for (const auto& [tensor, place] : *members) {
    const auto* name = place.as<std::string>();
    expect(name != nullptr, ErrorKind::file, "'{}': weight_map.{} is no text", index.string(), tensor);
    expect_plain(*name, index);
    files[tensor] = *name;
  }
  return files;
}

std::optional<int64_t> id_in(const JsonFile& config, const char* key) {
  const Json* value = config.json().find(key);
  // Some models end with one of several tokens: the first is the one of their texts.
  if (value && value->as<Json::Elements>() && !value->as<Json::Elements>()->empty())
    return JsonFile(Json::object({{key, value->as<Json::Elements>()->front()}}), config.file()).integer(key);
  return config.integer(key);
}

HuggingFaceTokens from_sentencepiece(const fs::path& path, int64_t rows) {
  auto tokeniser = text::Tokeniser::parse("sentencepiece", file::read_text(path), path.string());
  expect(tokeniser->size() == rows, ErrorKind::file, "'{}' has {} pieces, but the model has vectors for {}",
         path.string(), tokeniser->size(), rows);
  return {std::move(tokeniser), TokenOrder(rows, {.unknown = 0, .start = 1, .end = 2}), path.string()};
}

}  // namespace

bool is_huggingface(const fs::path& folder, const std::vector<std::string>& model_types) {
  if (!is_file(folder / "config.json") || (!is_file(folder / kOneFile) && !is_file(folder / kIndex))) return false;
  try {
    const std::optional<std::string> type = JsonFile(folder / "config.json").text("model_type");
    return type && std::ranges::count(model_types, *type) > 0;
  } catch (const Error&) {
    return false;
  }
}

std::string huggingface_licence(const fs::path& folder) {
  const fs::path path = folder / "README.md";
  if (!is_file(path)) return "";
  const std::string text = file::read_text(path);
  constexpr std::string_view kKey = "\nlicense:", kRule = "---";
  if (!text.starts_with(kRule)) return "";
  const size_t end = text.find("\n---", kRule.size()), at = text.find(kKey);
  if (end == std::string::npos || at == std::string::npos || at > end) return "";
  const size_t begin = text.find_first_not_of(' ', at + kKey.size());
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

ForeignTensors read_huggingface_tensors(const fs::path& folder, std::string_view prefix) {
  if (is_file(folder / kOneFile)) {
    const auto file = std::make_shared<const file::Safetensors>(file::Safetensors::read(folder / kOneFile));
    ForeignTensors tensors(file->file());
    for (const file::StoredTensor& tensor : file->tensors()) add_all(tensors, file, tensor, prefix);
    return tensors;
  }
  const fs::path index = folder / kIndex;
  std::map<std::string, std::shared_ptr<const file::Safetensors>> files;
  ForeignTensors tensors(index.string());
  for (const auto& [tensor, name] : weight_map(index)) {
    auto& file = files[name];
    if (!file) file = std::make_shared<const file::Safetensors>(file::Safetensors::read(folder / name));
    add_all(tensors, file, file->at(tensor), prefix);
  }
  return tensors;
}

HuggingFaceTokens read_huggingface_tokens(const fs::path& folder, const fs::path& named, const JsonFile& config) {
  const int64_t rows = config.needed("vocab_size");
  if (!named.empty() && named.extension() == ".model") return from_sentencepiece(named, rows);
  const fs::path json = named.empty() ? folder / "tokenizer.json" : named;
  const fs::path pieces = folder / "tokenizer.model", table = folder / "vocab.json", merges = folder / "merges.txt";
  // What SentencePiece made is cut by SentencePiece: its tokenizer.json says the same in another way.
  if (named.empty() && is_file(pieces)) return from_sentencepiece(pieces, rows);
  const bool whole = !named.empty() || is_file(json);
  expect(whole || (is_file(table) && is_file(merges)), ErrorKind::missing,
         "'{}' has no tokeniser: tokenizer.json, tokenizer.model, or vocab.json and merges.txt", folder.string());
  ByteBpeFiles files = whole ? read_tokenizer_json(json) : read_vocab_and_merges(table, merges);
  const std::string name = whole ? json.string() : table.string();
  expect(std::ssize(files.tokens) <= rows, ErrorKind::file, "'{}' has {} tokens, but the model has vectors for {}",
         name, files.tokens.size(), rows);
  files.tokens.resize(static_cast<size_t>(rows));
  std::vector<int64_t> never;
  for (int64_t id = 0; id < rows; ++id) {
    std::string& token = files.tokens[static_cast<size_t>(id)];
    if (token.empty()) {
      token = fmt::format("<unused {}>", id);
      files.special.insert(id);
    }
    if (files.special.contains(id)) never.push_back(id);
  }
  const auto end = id_in(config, "eos_token_id"), start = id_in(config, "bos_token_id");
  const SpecialIds special{.unknown = std::nullopt, .start = start ? start : end, .end = end};
  TokenOrder order(rows, special, never);
  text::ByteBpeParts& parts = files.parts;
  const std::vector<std::string> tokens = in_order(order, files.tokens);
  const auto count = std::ranges::count_if(order.rows().begin() + text::kSpecials, order.rows().end(),
                                           [&](int64_t id) { return files.special.contains(id); });
  parts.special.assign(tokens.begin(), tokens.begin() + count);
  parts.tokens.assign(tokens.begin() + count, tokens.end());
  return {text::Tokeniser::parse(text::kByteBpe, byte_bpe_contents(parts), name), std::move(order), name};
}

}  // namespace heed::imports
