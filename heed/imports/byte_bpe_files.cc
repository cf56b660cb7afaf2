#include "heed/imports/byte_bpe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/json_file.h"
#include "heed/text/split_words.h"

namespace heed::imports {

namespace {

using file::Json;
namespace fs = std::filesystem;

constexpr int64_t kMostTokens = 10'000'000;

/// The member of an object inside others: {"model", "vocab"}. Null where it is missing or null.
const Json* inside(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    at = at->find(key);
    if (!at || at->is_null()) return nullptr;
  }
  return at;
}

bool says(const Json* json, std::string_view word) {
  const auto* text = json ? json->as<std::string>() : nullptr;
  return text && *text == word;
}

bool is_true(const Json* json) { return json && json->as<bool>() && *json->as<bool>(); }

void set_token(ByteBpeFiles& to, const Json& id, const std::string& token, const std::string& file) {
  const auto* number = id.as<uint64_t>();
  expect(number && *number < kMostTokens, ErrorKind::file, "'{}': the id of '{}' is {}", file, token, id.line());
  if (*number >= to.tokens.size()) to.tokens.resize(*number + 1);
  std::string& place = to.tokens[*number];
  expect(place.empty() || place == token, ErrorKind::file, "'{}': '{}' and '{}' have the same id {}", file, place,
         token, *number);
  place = token;
}

void read_vocabulary(ByteBpeFiles& to, const Json* vocabulary, const std::string& file) {
  const auto* members = vocabulary ? vocabulary->as<Json::Members>() : nullptr;
  expect(members != nullptr, ErrorKind::file, "'{}' has no vocabulary: an object of tokens and ids", file);
  for (const auto& [token, id] : *members) set_token(to, id, token, file);
}

void add_merge(ByteBpeFiles& to, std::string_view line, const std::string& file) {
  const size_t blank = line.find(' ');
  const bool two = blank != std::string_view::npos && blank > 0 && blank + 1 < line.size();
  expect(two, ErrorKind::file, "'{}': the merge '{}' is not two tokens", file, line);
  to.parts.merges.emplace_back(line.substr(0, blank), line.substr(blank + 1));
}

/// "a b", or ["a", "b"].
void read_merges(ByteBpeFiles& to, const Json* merges, const std::string& file) {
  const auto* elements = merges ? merges->as<Json::Elements>() : nullptr;
  expect(elements != nullptr, ErrorKind::file, "'{}' has no model.merges", file);
  for (const Json& merge : *elements) {
    if (const auto* line = merge.as<std::string>()) {
      add_merge(to, *line, file);
      continue;
    }
    const std::vector<std::string> pair = texts_of(merge, file);
    expect(pair.size() == 2, ErrorKind::file, "'{}': a merge has {} tokens", file, pair.size());
    to.parts.merges.emplace_back(pair[0], pair[1]);
  }
}

[[noreturn]] void refuse(const std::string& file, std::string_view key, const Json& value) {
  throw Error(ErrorKind::file,
              fmt::format("'{}': {} is {}, which is not known here; byte-level BPE as of GPT-2, Llama 3 "
                          "or Qwen 2 is",
                          file, key, value.line()));
}

/// Byte level, with the pattern of GPT-2.
void read_byte_level(ByteBpeFiles& to, const Json& step, const std::string& file) {
  if (!says(step.find("type"), "ByteLevel")) refuse(file, "pre_tokenizer", step);
  to.parts.prefix = is_true(step.find("add_prefix_space"));
}

void read_cutting(ByteBpeFiles& to, const Json& json, const std::string& file) {
  const Json* cutting = inside(json, {"pre_tokenizer"});
  expect(cutting != nullptr, ErrorKind::file, "'{}' has no pre_tokenizer; byte-level BPE has one", file);
  if (!says(cutting->find("type"), "Sequence")) {
    read_byte_level(to, *cutting, file);
    if (const Json* regex = cutting->find("use_regex"); regex && !is_true(regex))
      refuse(file, "pre_tokenizer", *cutting);
    return;
  }
  const Json* steps = inside(*cutting, {"pretokenizers"});
  const auto* all = steps ? steps->as<Json::Elements>() : nullptr;
  if (!all || all->size() != 2) refuse(file, "pre_tokenizer", *cutting);
  const Json& split = all->front();
  const Json* pattern = inside(split, {"pattern", "Regex"});
  if (!says(split.find("type"), "Split") || !pattern || !says(split.find("behavior"), "Isolated") ||
      is_true(split.find("invert")))
    refuse(file, "pre_tokenizer", *cutting);
  const auto* known =
      std::ranges::find_if(text::kWordPatterns, [&](const auto& one) { return says(pattern, one.value.pattern); });
  if (known == std::end(text::kWordPatterns)) refuse(file, "pre_tokenizer.pretokenizers.pattern", *pattern);
  to.parts.words = known->word;
  read_byte_level(to, all->back(), file);
  if (is_true(all->back().find("use_regex"))) refuse(file, "pre_tokenizer", *cutting);
}

void read_added(ByteBpeFiles& to, const Json& json, const std::string& file) {
  const Json* added = inside(json, {"added_tokens"});
  const auto* elements = added ? added->as<Json::Elements>() : nullptr;
  if (!elements) return;
  for (const Json& token : *elements) {
    const Json *id = token.find("id"), *content = token.find("content");
    expect(id && id->as<uint64_t>() && content && content->as<std::string>(), ErrorKind::file,
           "'{}': one of added_tokens has no id or no content", file);
    set_token(to, *id, *content->as<std::string>(), file);
    to.special.insert(static_cast<int64_t>(*id->as<uint64_t>()));
  }
}

}  // namespace

ByteBpeFiles read_tokenizer_json(const fs::path& path) {
  const std::string file = path.string();
  const Json json = read_json(path);
  const Json* model = inside(json, {"model"});
  expect(model != nullptr, ErrorKind::file, "'{}' has no model", file);
  if (!says(model->find("type"), "BPE"))
    refuse(file, "model.type", model->find("type") ? *model->find("type") : Json());
  for (const char* key : {"byte_fallback", "fuse_unk"})
    if (is_true(model->find(key))) refuse(file, std::string("model.") + key, true);
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    if (const Json* value = model->find(key); value && !value->is_null() && !says(value, ""))
      refuse(file, std::string("model.") + key, *value);
  ByteBpeFiles files;
  files.parts.whole = is_true(model->find("ignore_merges"));
  if (const Json* normaliser = inside(json, {"normalizer"})) {
    files.parts.nfc = says(normaliser->find("type"), "NFC");
    if (!files.parts.nfc) refuse(file, "normalizer", *normaliser);
  }
  read_cutting(files, json, file);
  read_vocabulary(files, model->find("vocab"), file);
  read_merges(files, model->find("merges"), file);
  read_added(files, json, file);
  return files;
}

ByteBpeFiles read_vocab_and_merges(const fs::path& vocab, const fs::path& merges) {
  ByteBpeFiles files;
  const Json table = read_json(vocab);
  read_vocabulary(files, &table, vocab.string());
  const std::string text = file::read_text(merges);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !(at == 0 && line.starts_with("#version"))) add_merge(files, line, merges.string());
    at = end + 1;
  }
  // Its one token that is no bytes.
  const auto end = std::ranges::find(files.tokens, "<|endoftext|>");
  if (end != files.tokens.end()) files.special.insert(end - files.tokens.begin());
  return files;
}

}  // namespace heed::imports
