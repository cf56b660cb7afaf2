#include "heed/imports/huggingface.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "heed/base/choice.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/imports/byte_bpe_files.h"
#include "heed/imports/token_table.h"
#include "heed/imports/wordpiece_files.h"

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
  for (const auto& [old, now] : {std::pair("LayerNorm.gamma", "weight"), std::pair("LayerNorm.beta", "bias")})
    if (name.ends_with(old)) name.replace(name.rfind('.') + 1, std::string::npos, now);  // before 2020
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

/// Gives tokens that lack a name one, and divides them into those that no text is cut into and the others.
template <class Files>
TokenOrder place_tokens(Files& files, int64_t rows, const SpecialIds& special, const std::string& name) {
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
  TokenOrder order(rows, special, never);
  const std::vector<std::string> tokens = in_order(order, files.tokens);
  const auto count = std::ranges::count_if(order.rows().begin() + text::kSpecials, order.rows().end(),
                                           [&](int64_t id) { return files.special.contains(id); });
  files.parts.special.assign(tokens.begin(), tokens.begin() + count);
  files.parts.tokens.assign(tokens.begin() + count, tokens.end());
  return order;
}

/// Whether a tokenizer.json puts one token before a text and one behind it, and nothing else.
void expect_frame(const Json& json, const std::string& file) {
  const Json* frame = json.find("post_processor");
  expect(frame && !frame->is_null(), ErrorKind::file,
         "'{}' has no post_processor, which would put a token before a text and one behind it", file);
  if (says(frame->find("type"), "BertProcessing") || says(frame->find("type"), "RobertaProcessing")) return;
  const Json* single = says(frame->find("type"), "TemplateProcessing") ? frame->find("single") : nullptr;
  const auto* parts = single ? single->as<Json::Elements>() : nullptr;
  const bool is_frame = parts && parts->size() == 3 && (*parts)[0].find("SpecialToken") &&
                        (*parts)[1].find("Sequence") && (*parts)[2].find("SpecialToken");
  expect(is_frame, ErrorKind::file,
         "'{}': post_processor is {}, but a token before a text and one behind it are needed", file, frame->line());
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
    const auto file = std::make_shared<const file::Safetensors>(
        file::Safetensors::read(folder / kOneFile, file::WholeNumbers::listed));
    ForeignTensors tensors(file->file());
    for (const file::StoredTensor& tensor : file->tensors()) add_all(tensors, file, tensor, prefix);
    return tensors;
  }
  const fs::path index = folder / kIndex;
  std::map<std::string, std::shared_ptr<const file::Safetensors>> files;
  ForeignTensors tensors(index.string());
  for (const auto& [tensor, name] : weight_map(index)) {
    auto& file = files[name];
    if (!file)
      file =
          std::make_shared<const file::Safetensors>(file::Safetensors::read(folder / name, file::WholeNumbers::listed));
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
  const auto end = id_in(config, "eos_token_id"), start = id_in(config, "bos_token_id");
  const SpecialIds special{.unknown = std::nullopt, .start = start ? start : end, .end = end};
  TokenOrder order = place_tokens(files, rows, special, name);
  return {text::Tokeniser::parse(text::kByteBpe, byte_bpe_contents(files.parts), name), std::move(order), name};
}

HuggingFaceTokens read_encoder_tokens(const fs::path& folder, const fs::path& named, const JsonFile& config) {
  const int64_t rows = config.needed("vocab_size");
  const fs::path json = named.empty() ? folder / "tokenizer.json" : named;
  const fs::path lines = folder / "vocab.txt", table = folder / "vocab.json", merges = folder / "merges.txt";
  const auto placed = [&](auto files, const std::string& name, const std::string& kind, auto contents) {
    const auto id_of = [&](std::initializer_list<const char*> words) -> std::optional<int64_t> {
      for (const char* word : words)
        if (const auto at = std::ranges::find(files.tokens, word); at != files.tokens.end())
          return at - files.tokens.begin();
      return {};
    };
    const SpecialIds special{
        .unknown = id_of({"[UNK]", "<unk>"}), .start = id_of({"[CLS]", "<s>"}), .end = id_of({"[SEP]", "</s>"})};
    expect(special.start && special.end, ErrorKind::file,
           "'{}' has no [CLS] and [SEP], or <s> and </s>, which an encoder reads around a text", name);
    const auto mask = id_of({"[MASK]", "<mask>"});
    TokenOrder order = place_tokens(files, rows, special, name);
    return HuggingFaceTokens{text::Tokeniser::parse(kind, contents(files.parts), name), std::move(order), name, mask};
  };
  if (!named.empty() || is_file(json)) {
    const Json whole = read_json(json);
    expect_frame(whole, json.string());
    if (is_wordpiece(whole))
      return placed(read_wordpiece_json(whole, json.string()), json.string(), text::kWordPiece,
                    text::wordpiece_contents);
    return placed(read_tokenizer_json(json), json.string(), text::kByteBpe, text::byte_bpe_contents);
  }
  if (is_file(lines)) return placed(read_vocab_txt(lines), lines.string(), text::kWordPiece, text::wordpiece_contents);
  expect(is_file(table) && is_file(merges), ErrorKind::missing,
         "'{}' has no tokeniser: tokenizer.json, vocab.txt, or vocab.json and merges.txt", folder.string());
  return placed(read_vocab_and_merges(table, merges), table.string(), text::kByteBpe, text::byte_bpe_contents);
}

namespace {

/// transformers' word, ours.
constexpr Choice<const char*> kTheirActivations[] = {{"gelu_new", "gelu_tanh"},  {"gelu_pytorch_tanh", "gelu_tanh"},
                                                     {"gelu_fast", "gelu_tanh"}, {"gelu", "gelu"},
                                                     {"relu", "relu"},           {"silu", "silu"},
                                                     {"swish", "silu"},          {"quick_gelu", "gelu_sigmoid"}};

}  // namespace

std::string activation_of(const JsonFile& config, const char* key, const char* missing) {
  const std::string activation = config.text(key).value_or(missing);
  if (!has_word(kTheirActivations, activation)) config.refuse(key, "no layer here has it");
  return value_of(kTheirActivations, activation);
}

void tell_huggingface(Imported& imported, const fs::path& folder, const HuggingFaceTokens& tokens) {
  imported.found.emplace_back("tokeniser", tokens.file);
  if (const std::string licence = huggingface_licence(folder); !licence.empty())
    imported.found.emplace_back("licence", licence);
}

}  // namespace heed::imports
