#include "heed/imports/byte_bpe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/json_file.h"
#include "heed/imports/token_table.h"
#include "heed/text/split_words.h"

namespace heed::imports {

namespace {

using file::Json;
namespace fs = std::filesystem;

/// The member of an object inside others: {"model", "vocab"}. Null where it is missing or null.
const Json* inside(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    at = at->find(key);
    if (!at || at->is_null()) return nullptr;
  }
  return at;
}

bool is_true(const Json* json) { return json && json->as<bool>() && *json->as<bool>(); }

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
  TokenTable table(files.tokens, files.special, file);
  table.read_vocabulary(model->find("vocab"));
  read_merges(files, model->find("merges"), file);
  table.read_added(json);
  return files;
}

ByteBpeFiles read_vocab_and_merges(const fs::path& vocab, const fs::path& merges) {
  ByteBpeFiles files;
  const Json table = read_json(vocab);
  TokenTable(files.tokens, files.special, vocab.string()).read_vocabulary(&table);
  const std::vector<std::string> lines = lines_of_file(merges);
  for (const std::string& line : lines)
    if (!line.empty() && !(&line == &lines.front() && line.starts_with("#version")))
      add_merge(files, line, merges.string());
  // Of GPT-2 and of RoBERTa: those that are no bytes.
  for (const char* name : {"<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>", "<mask>"})
    if (const auto at = std::ranges::find(files.tokens, name); at != files.tokens.end())
      files.special.insert(at - files.tokens.begin());
  return files;
}

}  // namespace heed::imports
