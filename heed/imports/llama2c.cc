// llama2.c: Llamas in one file.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/importer.h"
#include "heed/imports/llama2c_file.h"
#include "heed/imports/make.h"
#include "heed/task/all.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

constexpr Rule kLlama2cRules[] = {
    {"decoder.{}.self.norm.gain", "rms_att.{}"},      {"decoder.{}.self.query.weight", "wq.{}"},
    {"decoder.{}.self.key.weight", "wk.{}"},          {"decoder.{}.self.value.weight", "wv.{}"},
    {"decoder.{}.self.output.weight", "wo.{}"},       {"decoder.{}.feed_forward.norm.gain", "rms_ffn.{}"},
    {"decoder.{}.feed_forward.gate.weight", "w1.{}"}, {"decoder.{}.feed_forward.down.weight", "w2.{}"},
    {"decoder.{}.feed_forward.up.weight", "w3.{}"},   {"decoder.norm.gain", "rms_final"}};

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (entry.path().extension() == ".bin" && entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool is_model(const fs::path& file) {
  try {
    file::InputFile open(file);
    std::vector<std::byte> header(std::min<uint64_t>(28, open.size()));
    open.read(header);
    return is_llama2c(header, open.size());
  } catch (const Error&) {
    return false;
  }
}

fs::path model_in(const fs::path& path) {
  for (const fs::path& file : files_of(path))
    if (is_model(file)) return file;
  return {};
}

fs::path tokeniser_beside(const fs::path& model) {
  const fs::path folder = file::folder_of(model);
  std::vector<fs::path> found;
  for (const fs::path& file : files_of(folder))
    if (file.filename().string().starts_with("tok") && !is_model(file)) found.push_back(file);
  expect(found.size() == 1, ErrorKind::missing,
         "'{}' needs its tokeniser, such as tokenizer.bin: there are {} files tok*.bin beside it; name it with "
         "--tokeniser",
         model.string(), found.size());
  return found.front();
}

std::shared_ptr<const std::vector<std::byte>> bytes_of_file(const fs::path& path) {
  return std::make_shared<const std::vector<std::byte>>(file::read_bytes(path));
}

Imported read_llama2c(const fs::path& path, const ImportOptions& options) {
  const fs::path file = model_in(path);
  Llama2cFile parsed = parse_llama2c(bytes_of_file(file), file.string());
  const Llama2cSizes& s = parsed.sizes;
  const fs::path token_file = options.tokeniser.empty() ? tokeniser_beside(file) : options.tokeniser;
  std::vector<text::ScoredPiece> pieces = parse_llama2c_pieces(file::read_bytes(token_file), token_file.string());
  expect(std::ssize(pieces) == s.tokens && s.tokens > 3, ErrorKind::file,
         "'{}' has {} pieces, but the model '{}' has {} tokens", token_file.string(), pieces.size(), file.string(),
         s.tokens);
  pieces.erase(pieces.begin(), pieces.begin() + 3);  // <unk>, <s> and </s>, as here

  task::Description d = plain_transformer(task::next_token_task().name);
  model::Options& m = d.model;
  m.width = s.width;
  m.hidden = s.hidden;
  m.decoder_layers = s.layers;
  set_heads(m, s.heads, s.kv_heads, file.string());
  m.context = s.longest;
  m.norm = "pre";
  m.norm_kind = "rms";
  m.positions = "rotary";
  m.activation = "swiglu";
  m.bias = m.scale_embeddings = false;
  const TokenTables tables{"text", "token_embedding", "wcls", ""};
  const bool tied = is_tied(parsed.tensors, tables);
  m.tied = tied ? "decoder" : "none";
  d.answers.longest = s.longest;

  Imported imported{empty_text_model(
      std::move(d), text::Tokeniser::parse(text::kScoredBpe, scored_bpe_contents(pieces), token_file.string()))};
  Filler filler(*imported.model.parameters, parsed.tensors);
  filler.apply(kLlama2cRules, s.layers);
  const TokenOrder order(s.tokens, {.unknown = 0, .start = 1, .end = 2});
  fill_tables(filler, parsed.tensors, tables, order, *imported.model.parameters);
  filler.expect_complete();
  for (const char* name : {"freq_cis_real", "freq_cis_imag"})
    imported.left.push_back(fmt::format("{}: angles, which follow from the sizes", name));
  imported.found = {{"architecture", "Llama"},
                    {"tokeniser", token_file.string()},
                    {"longest text", fmt::format("{} tokens", s.longest)}};
  return imported;
}

}  // namespace

const Importer llama2c_importer = {
    .name = "llama2.c",
    .meaning = "a .bin file of llama2.c (version 0), or a folder with one, and tokenizer.bin beside it",
    .recognises = [](const fs::path& path) { return !model_in(path).empty(); },
    .read = read_llama2c,
};

}  // namespace heed::imports
