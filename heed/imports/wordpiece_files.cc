#include "heed/imports/wordpiece_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/json_file.h"
#include "heed/imports/token_table.h"

namespace heed::imports {

namespace {

using file::Json;
namespace fs = std::filesystem;

/// What BERT calls its own tokens, where a vocabulary is nothing but lines.
constexpr const char* kSpecialOfBert[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// The object inside another, of this type.
JsonFile part_of(const Json& json, const char* key, std::string_view type, const std::string& file) {
  const Json* part = json.find(key);
  const JsonFile inside(part && part->as<Json::Members>() ? *part : Json::object({}), file + ": " + key);
  if (inside.text("type").value_or("") != type)
    throw Error(ErrorKind::file, fmt::format("'{}': {}.type is '{}', but {} is needed: what BERT's tokeniser does",
                                             file, key, inside.text("type").value_or("none"), type));
  return inside;
}

void read_form(text::WordPieceParts& to, const JsonFile& from) {
  to.clean = from.flag("clean_text", true);
  to.ideographs = from.flag("handle_chinese_chars", true);
  to.lower = from.flag("lowercase", true);
  to.strip = from.flag("strip_accents", to.lower);
}

}  // namespace

bool is_wordpiece(const Json& json) {
  const Json* model = json.find("model");
  return model && says(model->find("type"), "WordPiece");
}

WordPieceFiles read_wordpiece_json(const Json& json, const std::string& file) {
  WordPieceFiles files;
  read_form(files.parts, part_of(json, "normalizer", "BertNormalizer", file));
  part_of(json, "pre_tokenizer", "BertPreTokenizer", file);
  const JsonFile model = part_of(json, "model", "WordPiece", file);
  if (model.text("continuing_subword_prefix").value_or("##") != "##")
    model.refuse("continuing_subword_prefix", "pieces inside a word begin with ## here");
  files.parts.longest = model.integer("max_input_chars_per_word").value_or(100);
  TokenTable table{files.tokens, files.special, file};
  table.read_vocabulary(model.json().find("vocab"));
  const size_t before = files.tokens.size();
  table.read_added(json);
  for (size_t id = before; id < files.tokens.size(); ++id)
    expect(files.tokens[id].empty() || table.is_marked_special(id), ErrorKind::file,
           "'{}': the added token '{}' is looked for in texts before they are cut, which is not known here", file,
           files.tokens[id]);
  return files;
}

WordPieceFiles read_vocab_txt(const fs::path& vocab) {
  WordPieceFiles files;
  const fs::path config = vocab.parent_path() / "tokenizer_config.json";
  std::error_code ignored;
  if (fs::is_regular_file(config, ignored)) {
    const JsonFile said(config);
    files.parts.lower = said.flag("do_lower_case", true);
    files.parts.ideographs = said.flag("tokenize_chinese_chars", true);
    files.parts.strip = said.flag("strip_accents", files.parts.lower);
    if (!said.flag("do_basic_tokenize", true))
      said.refuse("do_basic_tokenize", "punctuation is cut off before words are cut here");
  }
  files.tokens = lines_of_file(vocab);
  for (const char* name : kSpecialOfBert)
    if (const auto at = std::ranges::find(files.tokens, name); at != files.tokens.end())
      files.special.insert(at - files.tokens.begin());
  return files;
}

}  // namespace heed::imports
