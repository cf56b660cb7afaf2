// OpenNMT-py's LSTMs with general attention and input feeding (Luong et al. 2015), from the file of torch.save().
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/importer.h"
#include "heed/imports/make.h"
#include "heed/imports/torch_file.h"
#include "heed/model/encode/recurrent_keys.h"
#include "heed/task/all.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;
using Kind = PickleValue::Kind;

/// What a training of OpenNMT-py was told: "opt", of a Namespace.
class Told {
 public:
  Told(const PickleValue& all, std::string file) : all_(all), file_(std::move(file)) {}

  int64_t number(const char* key) const {
    const PickleValue* value = all_.find(key);
    expect(value && value->is(Kind::integer) && value->integer > 0, ErrorKind::file,
           "'{}': opt.{} should be a number above 0", file_, key);
    return value->integer;
  }
  bool flag(const char* key) const {
    const PickleValue* value = all_.find(key);
    return value && (value->is(Kind::boolean) || value->is(Kind::integer)) && value->integer != 0;
  }
  std::string text(const char* key, const char* missing) const {
    const PickleValue* value = all_.find(key);
    return value && value->is(Kind::text) ? value->text : missing;
  }
  void expect_text(const char* key, const char* wanted) const {
    expect(text(key, wanted) == wanted, ErrorKind::file, "'{}': opt.{} is '{}'; of OpenNMT-py, '{}' can be imported",
           file_, key, text(key, wanted), wanted);
  }
  void expect_off(const char* key) const {
    expect(!flag(key), ErrorKind::file, "'{}': opt.{} is on, which no model here has", file_, key);
  }

 private:
  const PickleValue& all_;
  std::string file_;
};

/// "itos" of the vocabulary of a side: a list of pairs of a name and a torchtext Vocab.
std::vector<std::string> tokens_of(const PickleValue& root, const char* side, const std::string& file) {
  const PickleValue* all = root.find("vocab");
  expect(all && all->is(Kind::list), ErrorKind::file, "'{}' has no vocabularies", file);
  for (const PickleValue* pair : all->items) {
    if (!pair->is(Kind::list) || pair->items.size() != 2 || pair->items[0]->text != side) continue;
    const PickleValue* list = pair->items[1]->find("itos");
    if (!list || !list->is(Kind::list)) break;
    std::vector<std::string> tokens;
    for (const PickleValue* token : list->items) tokens.push_back(token->text);
    return tokens;
  }
  throw Error(ErrorKind::file, fmt::format("'{}' has no vocabulary '{}'", file, side));
}

std::optional<int64_t> place_of(const std::vector<std::string>& tokens, std::string_view token) {
  const auto at = std::ranges::find(tokens, token);
  if (at == tokens.end()) return {};
  return at - tokens.begin();
}

std::optional<int64_t> last_of(const std::vector<std::string>& tokens, std::string_view token) {
  const auto at = std::find(tokens.rbegin(), tokens.rend(), token);
  if (at == tokens.rend()) return {};
  return tokens.rend() - at - 1;
}

struct Side {
  std::shared_ptr<const text::Tokeniser> tokeniser;
  TokenOrder order;
};

/// Tokens between blanks, as OpenNMT-py reads them.
Side side_of(const PickleValue& root, const char* name, const std::string& file) {
  std::vector<std::string> tokens = tokens_of(root, name, file);
  // A vocabulary that was put together from several has its marks twice: the last one is used, but what is unknown is
  // the very first.
  const SpecialIds special{
      .unknown = place_of(tokens, "<unk>"), .start = last_of(tokens, "<s>"), .end = last_of(tokens, "</s>")};
  std::vector<int64_t> never;
  std::set<std::string> seen;
  for (int64_t id = 0; id < std::ssize(tokens); ++id) {
    std::string& token = tokens[static_cast<size_t>(id)];
    const bool again = !seen.insert(token).second;
    if (again) token = fmt::format("<unused {}>", id);
    if (again || token == "<blank>") never.push_back(id);
  }
  TokenOrder order(std::ssize(tokens), special, never);
  auto tokeniser = text::Tokeniser::parse("words", vocabulary_contents(in_order(order, tokens)),
                                          fmt::format("{}: vocabulary {}", file, name));
  return {std::move(tokeniser), std::move(order)};
}

task::Description description_of(const Told& told, const std::string& file) {
  for (const auto& [key, wanted] : {std::pair("model_type", "text"), std::pair("decoder_type", "rnn"),
                                    std::pair("rnn_type", "LSTM"), std::pair("global_attention", "general")})
    told.expect_text(key, wanted);
  for (const char* key : {"copy_attn", "coverage_attn", "position_encoding"}) told.expect_off(key);
  const std::string encoder = told.text("encoder_type", "rnn");
  expect(encoder == "rnn" || encoder == "brnn", ErrorKind::file,
         "'{}': opt.encoder_type is '{}'; rnn and brnn can be imported", file, encoder);
  task::Description d;
  model::Options& m = d.model;
  m.kind = "rnn";
  m.cell = "lstm";
  m.bidirectional = encoder == "brnn";
  m.width = told.number("rnn_size");
  m.encoder_layers = told.number("enc_layers");
  m.decoder_layers = told.number("dec_layers");
  for (const char* key : {"src_word_vec_size", "tgt_word_vec_size"})
    expect(told.number(key) == m.width, ErrorKind::file,
           "'{}': opt.{} is {}, but vectors as wide as the states, {}, "
           "are needed",
           file, key, told.number(key), m.width);
  expect(m.encoder_layers == m.decoder_layers, ErrorKind::file,
         "'{}': {} layers of the encoder and {} of the decoder, which begins with the states of as many", file,
         m.encoder_layers, m.decoder_layers);
  expect(!m.bidirectional || m.width % 2 == 0, ErrorKind::file, "'{}': the width {} cannot be halved", file, m.width);
  m.own.of<encode::RecurrentEncoderKeys>().encoder_hidden = m.bidirectional ? m.width / 2 : 0;
  m.own.of<encode::RecurrentDecoderKeys>().bridge = "copy";
  m.input_feeding = told.flag("input_feed");
  m.attention.score = "general";
  m.dropout = 0.1f;
  return d;
}

constexpr const char* kParts[] = {"weight", "bias"};

/// A layer of an LSTM: both programs have the gates in the order of PyTorch.
void fill_cell(Filler& filler, const std::string& to, const std::string& from, const std::string& ending) {
  for (const auto& [ours, theirs] : {std::pair("input", "ih"), std::pair("state", "hh")})
    for (const char* part : kParts) {
      const std::string name = fmt::format("{}.{}.{}", to, ours, part),
                        other = fmt::format("{}{}_{}{}", from, part, theirs, ending);
      const Rule rule[] = {{name, other}};
      filler.apply(rule, 1);
    }
}

Imported read_opennmt(const fs::path& path, const ImportOptions&) {
  const std::string file = path.string();
  const TorchFile torch(std::make_shared<const std::vector<std::byte>>(file::read_bytes(path)), file);
  const PickleValue& root = torch.root();
  const PickleValue *weights = root.find("model"), *output = root.find("generator"), *opt = root.find("opt");
  expect(weights && output && opt, ErrorKind::file,
         "'{}' is no model of OpenNMT-py: it has no 'model', 'generator' and 'opt'", file);
  task::Description d = description_of(Told(*opt, file), file);
  ForeignTensors tensors(file);
  torch.add_all(tensors, *weights);
  torch.add_all(tensors, *output, "generator.");
  const Side source = side_of(root, "src", file), target = side_of(root, "tgt", file);
  d.source.tokens = d.target.tokens = "words";

  Imported imported{trained::make_model(std::move(d), {source.tokeniser, target.tokeniser}, 0, Start::empty)};
  Parameters& parameters = *imported.model.parameters;
  const model::Options& m = imported.model.description.model;
  Filler filler(parameters, tensors);
  for (int64_t l = 0; l < m.encoder_layers; ++l)
    for (const auto& [direction, ending] : {std::pair("forward", ""), std::pair("backward", "_reverse")})
      if (m.bidirectional || *ending == 0)
        fill_cell(filler, fmt::format("encoder.{}.{}", l, direction), "encoder.rnn.", fmt::format("_l{}{}", l, ending));
  for (int64_t l = 0; l < m.decoder_layers; ++l)
    fill_cell(filler, fmt::format("decoder.recurrent.{}.forward", l),
              // Without input feeding the decoder is PyTorch's own LSTM.
              m.input_feeding ? fmt::format("decoder.rnn.layers.{}.", l) : "decoder.rnn.",
              m.input_feeding ? "" : fmt::format("_l{}", l));
  constexpr Rule kAttention[] = {{"decoder.attention.score.weight", "decoder.attn.linear_in.weight", Form::turned},
                                 {"decoder.combine.weight", "decoder.attn.linear_out.weight"}};
  filler.apply(kAttention, 1);
  filler.set("decoder.combine.bias", std::vector<float>(static_cast<size_t>(m.width)), "a bias that it does not have");
  fill_tables(filler, tensors, {"source", "encoder.embeddings.emb_luts.0.weight", "", ""}, source.order, parameters);
  fill_tables(filler, tensors,
              {"target", "decoder.embeddings.emb_luts.0.weight", "generator.0.weight", "generator.0.bias"},
              target.order, parameters);
  filler.expect_complete();
  leave_unneeded(tensors, {}, imported);
  imported.found = {{"architecture", "an LSTM of OpenNMT-py with general attention"}};
  return imported;
}

bool recognises_opennmt(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || path.extension() != ".pt") return false;
  try {
    return is_torch_file(file::read_bytes(path));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

const Importer opennmt_importer = {
    .name = "opennmt",
    .meaning = "a .pt file of OpenNMT-py with an LSTM, general attention and input feeding",
    .recognises = recognises_opennmt,
    .read = read_opennmt,
};

}  // namespace heed::imports
