// CTranslate2: Transformers with an encoder and a decoder, and those with a decoder alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <system_error>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/imports/ctranslate2_file.h"
#include "heed/imports/ctranslate2_vocabulary.h"
#include "heed/imports/importer.h"
#include "heed/imports/json_file.h"
#include "heed/imports/make.h"
#include "heed/kernels/exact_math.h"
#include "heed/task/all.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

/// Of a side, "encoder" or "decoder", with the norms and biases that it has.
#define HEED_SELF_ATTENTION(side)                                                       \
  {side ".{}.self.query.weight", side "/layer_{}/self_attention/linear_0/weight"},      \
      {side ".{}.self.key.weight", side "/layer_{}/self_attention/linear_0/weight"},    \
      {side ".{}.self.value.weight", side "/layer_{}/self_attention/linear_0/weight"},  \
      {side ".{}.self.output.weight", side "/layer_{}/self_attention/linear_1/weight"}, \
      {side ".{}.self.norm.gain", side "/layer_{}/self_attention/layer_norm/gamma"},    \
      {side ".{}.feed_forward.down.weight", side "/layer_{}/ffn/linear_1/weight"}, {    \
    side ".{}.feed_forward.norm.gain", side "/layer_{}/ffn/layer_norm/gamma"            \
  }
#define HEED_BIASES(side)                                                                               \
  {side ".{}.self.query.bias", side "/layer_{}/self_attention/linear_0/bias", Form::same, true},        \
      {side ".{}.self.key.bias", side "/layer_{}/self_attention/linear_0/bias", Form::same, true},      \
      {side ".{}.self.value.bias", side "/layer_{}/self_attention/linear_0/bias", Form::same, true},    \
      {side ".{}.self.output.bias", side "/layer_{}/self_attention/linear_1/bias", Form::same, true}, { \
    side ".{}.feed_forward.down.bias", side "/layer_{}/ffn/linear_1/bias", Form::same, true             \
  }

constexpr Rule kEncoder[] = {HEED_SELF_ATTENTION("encoder")};
constexpr Rule kDecoder[] = {HEED_SELF_ATTENTION("decoder")};
constexpr Rule kEncoderBiases[] = {HEED_BIASES("encoder")};
constexpr Rule kDecoderBiases[] = {HEED_BIASES("decoder")};
#undef HEED_SELF_ATTENTION
#undef HEED_BIASES
constexpr Rule kSource[] = {{"decoder.{}.source.query.weight", "decoder/layer_{}/attention/linear_0/weight"},
                            {"decoder.{}.source.key.weight", "decoder/layer_{}/attention/linear_1/weight"},
                            {"decoder.{}.source.value.weight", "decoder/layer_{}/attention/linear_1/weight"},
                            {"decoder.{}.source.output.weight", "decoder/layer_{}/attention/linear_2/weight"},
                            {"decoder.{}.source.norm.gain", "decoder/layer_{}/attention/layer_norm/gamma"}};
constexpr Rule kSourceBiases[] = {
    {"decoder.{}.source.query.bias", "decoder/layer_{}/attention/linear_0/bias", Form::same, true},
    {"decoder.{}.source.key.bias", "decoder/layer_{}/attention/linear_1/bias", Form::same, true},
    {"decoder.{}.source.value.bias", "decoder/layer_{}/attention/linear_1/bias", Form::same, true},
    {"decoder.{}.source.output.bias", "decoder/layer_{}/attention/linear_2/bias", Form::same, true}};

// By the number that CTranslate2 has for them; the second is the one with a gate.
struct Activations {
  const char *plain, *gated;
};
constexpr std::array<Activations, 7> kNumbered = {{{"relu", "reglu"},
                                                   {"gelu_tanh", "geglu_tanh"},
                                                   {"silu", "swiglu"},
                                                   {"gelu", "geglu"},
                                                   {"gelu_sigmoid", nullptr},
                                                   {"tanh", nullptr},
                                                   {"sigmoid", nullptr}}};

/// Numbers that a model here does without, whatever they are.
constexpr const char* kUnneeded[] = {"alignment_layer", "alignment_heads", "embeddings_merge",
                                     "alibi_use_positive_positions", "multi_query_attention"};

class Reader {
 public:
  explicit Reader(const fs::path& folder) : folder_(folder) {
    const fs::path model = folder / "model.bin";
    file_ = parse_ctranslate2(std::make_shared<const std::vector<std::byte>>(file::read_bytes(model)), model.string());
    std::error_code ignored;
    if (fs::exists(folder / "config.json", ignored)) config_.emplace(folder / "config.json");
  }

  Imported read() {
    const bool pairs = tensors().has("encoder/layer_0/self_attention/linear_0/weight");
    expect(pairs || tensors().has("decoder/layer_0/self_attention/linear_0/weight"), ErrorKind::file,
           "'{}' is a '{}' of CTranslate2; Transformers with a decoder can be imported", tensors().file(), file_.spec);
    if (config_)
      for (const char* key : {"add_source_bos", "add_source_eos"})
        if (config_->flag(key, false)) config_->refuse(key, "a source would need a token that is in no text");
    Imported imported = pairs ? read_pairs() : read_text();
    imported.left = what_is_left();
    imported.found.insert(imported.found.begin(),
                          {"architecture", fmt::format("{} of CTranslate2, version {}", file_.spec, file_.version)});
    return imported;
  }

 private:
  ForeignTensors& tensors() { return file_.tensors; }
  std::optional<double> number(const std::string& name) { return tensors().number(name); }
  std::string word(const char* key, const char* missing) const {
    return config_ ? config_->text(key).value_or(missing) : missing;
  }

  int64_t layers_of(const std::string& side) {
    int64_t layers = 0;
    while (tensors().has(fmt::format("{}/layer_{}/self_attention/linear_0/weight", side, layers))) ++layers;
    return layers;
  }

  /// "encoder/embeddings_0" in newer files.
  std::string table_of(const std::string& side) {
    const std::string one = side + "/embeddings/weight", first = side + "/embeddings_0/weight";
    return tensors().has(one) ? one : first;
  }

  int64_t rows_of(const std::string& name) {
    const Shape& shape = tensors().shape(name);
    expect(shape.size() == 2, ErrorKind::file, "'{}': '{}' is {}, not a table", tensors().file(), name, text_of(shape));
    return shape[0];
  }

  SpecialIds special(const std::vector<std::string>& tokens) const {
    const std::string end = word("eos_token", "</s>");
    auto start = id_of(tokens, word("decoder_start_token", word("bos_token", "<s>").c_str()));
    if (!start) start = id_of(tokens, end);
    return {.unknown = id_of(tokens, word("unk_token", "<unk>")), .start = start, .end = id_of(tokens, end)};
  }

  /// What both kinds have, from the decoder; an encoder that differs is refused.
  void read_stack(model::Options& m) {
    const std::string first = "decoder/layer_0/";
    m.width = tensors().shape(table_of("decoder")).back();
    m.hidden = tensors().shape(first + "ffn/linear_0/weight").front();
    m.decoder_layers = layers_of("decoder");
    const double usual_heads = file_.spec == "TransformerBig" ? 16 : 8;
    const auto heads = static_cast<int64_t>(number_of_both("num_heads", usual_heads));
    set_heads(m, heads, static_cast<int64_t>(number_of_both("num_heads_kv", 0)), tensors().file());
    const int64_t stacked = tensors().shape(first + "self_attention/linear_0/weight").front();
    const int64_t shared = m.attention.kv_heads > 0 ? m.attention.kv_heads : m.attention.heads;
    m.head_width = stacked / (m.attention.heads + 2 * shared);
    m.norm = number_of_both("pre_norm", 1) != 0 ? "pre" : "post";
    m.norm_kind = tensors().has(first + "ffn/layer_norm/beta") ? "layer" : "rms";
    m.final_norm = m.norm == "post" && tensors().has("decoder/layer_norm/gamma");
    const std::optional<double> epsilon = config_ ? config_->number("layer_norm_epsilon") : std::nullopt;
    m.norm_epsilon = static_cast<float>(epsilon.value_or(m.norm_kind == "rms" ? 1e-6 : 1e-5));
    m.embedding_norm = tensors().has("decoder/layernorm_embedding/gamma");
    m.scale_embeddings = scaled();
    gated_ = tensors().has(first + "ffn/linear_0_noact/weight");
    m.activation = activation();
    m.bias = tensors().has(first + "ffn/linear_0/bias") || tensors().has(first + "self_attention/linear_0/bias");
  }

  /// Of the decoder, and of the encoder if there is one.
  double number_of_both(const std::string& name, double missing) {
    const double value = number("decoder/" + name).value_or(missing);
    const double other = number("encoder/" + name).value_or(layers_of("encoder") > 0 ? missing : value);
    expect(value == other, ErrorKind::file, "'{}': {} is {} in the encoder and {} in the decoder; one is needed",
           tensors().file(), name, other, value);
    return value;
  }

  bool scaled() {
    const double root = std::sqrt(static_cast<double>(tensors().shape(table_of("decoder")).back()));
    const double factor = number_of_both("scale_embeddings", 1);
    // A flag, or the factor itself.
    if (factor == 0 || (factor == 1 && root == 1)) return false;
    expect(factor == 1 || std::abs(factor - root) < 1e-4 * root, ErrorKind::file,
           "'{}': scale_embeddings is {}; embeddings here are multiplied by the root of the width or not at all",
           tensors().file(), factor);
    return true;
  }

  std::string activation() {
    const auto which = static_cast<size_t>(number_of_both("activation", 0));
    const char* name = which < kNumbered.size() ? (gated_ ? kNumbered[which].gated : kNumbered[which].plain) : nullptr;
    expect(name != nullptr, ErrorKind::file, "'{}': decoder/activation is {}{}, which no layer here has",
           tensors().file(), which, gated_ ? " with a gate" : "");
    return name;
  }

  /// Positions that are added, from the file or by CTranslate2's formula. The same number of both sides.
  void read_positions(model::Options& m, const std::vector<std::string>& sides) {
    if (const auto rotary = number("decoder/layer_0/self_attention/rotary_dim")) return read_rotary(m, *rotary);
    m.positions = "learned";
    m.max_length = kComputed;
    for (const std::string& side : sides)
      if (const std::string name = positions_of(side); tensors().has(name))
        m.max_length = std::min(side == sides.front() ? rows_of(name) : m.max_length, rows_of(name));
  }
  static std::string positions_of(const std::string& side) { return side + "/position_encodings/encodings"; }

  void read_rotary(model::Options& m, double columns) {
    m.positions = "rotary";
    const std::string first = "decoder/layer_0/self_attention/";
    expect(columns == 0 || columns == static_cast<double>(m.head_width), ErrorKind::file,
           "'{}': rotary_dim is {} of {} columns of a head; here all are rotated", tensors().file(), columns,
           m.head_width);
    m.attention.rotary_halves = number(first + "rotary_interleave").value_or(1) == 0;
    m.attention.rotary_base = static_cast<float>(number(first + "rotary_base").value_or(10000));
    for (int64_t layer = 0; layer < m.decoder_layers; ++layer)
      for (const char* name : {"rotary_dim", "rotary_interleave", "rotary_base"})
        number(fmt::format("decoder/layer_{}/self_attention/{}", layer, name));
  }

  /// Sines in the first half and cosines in the second, of positions from 1 on. Angles are floats, as CTranslate2 has
  /// them; the functions are our own, with the same bits on every machine.
  static std::vector<float> computed_positions(int64_t rows, int64_t width) {
    std::vector<float> table(static_cast<size_t>(rows * width));
    const int64_t half = width / 2;
    constexpr float kLogOfTenThousand = 9.2103403719761836f;
    const float step = kLogOfTenThousand / static_cast<float>(half - 1);
    for (int64_t p = 0; p < rows; ++p)
      for (int64_t i = 0; i < half; ++i) {
        const float rate = static_cast<float>(exact::exp(static_cast<double>(-step * static_cast<float>(i))));
        const auto [sin, cos] = exact::sin_cos(static_cast<double>(static_cast<float>(p + 1) * rate));
        table[static_cast<size_t>(p * width + i)] = static_cast<float>(sin);
        table[static_cast<size_t>(p * width + half + i)] = static_cast<float>(cos);
      }
    return table;
  }

  void fill_positions(Filler& filler, const model::Options& m, const std::string& side, const std::string& to) {
    if (m.positions != "learned") return;
    const std::string name = positions_of(side);
    if (!tensors().has(name)) return filler.set(to + ".position", computed_positions(m.max_length, m.width), name);
    std::vector<float> table = tensors().take(name, {rows_of(name), m.width});
    table.resize(static_cast<size_t>(m.max_length * m.width));
    filler.set(to + ".position", std::move(table), name);
  }

  void fill_norm(Filler& filler, const std::string& to, const std::string& from, int64_t layers) {
    const std::string beta = to + ".bias", theirs = from + "/beta", gain = to + ".gain", gamma = from + "/gamma";
    const Rule gains[] = {{gain, gamma}}, biases[] = {{beta, theirs}};
    if (layers < 0) filler.apply(gains, 0);
    if (has_beta_) filler.apply(biases, std::max<int64_t>(layers, 0));
  }

  void fill_side(Filler& filler, const model::Options& m, const std::string& side, const std::string& to) {
    const bool decoder = side == "decoder";
    const int64_t layers = decoder ? m.decoder_layers : m.encoder_layers;
    has_beta_ = m.norm_kind == "layer";
    filler.apply(decoder ? std::span<const Rule>(kDecoder) : kEncoder, layers);
    if (m.bias) filler.apply(decoder ? std::span<const Rule>(kDecoderBiases) : kEncoderBiases, layers);
    // With a gate the first layer is the gate, and the one without activation goes up.
    const std::string up = side + ".{}.feed_forward.up", gate = side + ".{}.feed_forward.gate";
    const std::string first = side + "/layer_{}/ffn/linear_0", other = first + "_noact";
    fill_linear(filler, m, gated_ ? gate : up, first, layers);
    if (gated_) fill_linear(filler, m, up, other, layers);
    fill_norm(filler, side + ".{}.self.norm", side + "/layer_{}/self_attention/layer_norm", layers);
    fill_norm(filler, side + ".{}.feed_forward.norm", side + "/layer_{}/ffn/layer_norm", layers);
    if (m.norm == "pre" || m.final_norm) fill_norm(filler, side + ".norm", side + "/layer_norm", -1);
    if (m.embedding_norm) fill_norm(filler, to + ".norm", side + "/layernorm_embedding", -1);
    fill_positions(filler, m, side, to);
  }

  static void fill_linear(Filler& filler, const model::Options& m, const std::string& to, const std::string& from,
                          int64_t layers) {
    const std::string weight = to + ".weight", their_weight = from + "/weight", bias = to + ".bias",
                      their_bias = from + "/bias";
    const Rule weights[] = {{weight, their_weight}}, biases[] = {{bias, their_bias, Form::same, true}};
    filler.apply(weights, layers);
    if (m.bias) filler.apply(biases, layers);
  }

  /// A decoder that begins with a vector of zeros, not with a token.
  void clear_start(Parameters& parameters, const std::string& table) {
    if (number("decoder/start_from_zero_embedding").value_or(0) == 0) return;
    Parameter& p = parameters.at(table);
    std::fill_n(p.value.begin() + p.shape[1], p.shape[1], 0.0f);
    expect(parameters.find("output.weight") != nullptr || !starts_apart_, ErrorKind::file,
           "'{}': decoder/start_from_zero_embedding with one table for what is read and written, whose first token is "
           "written too",
           tensors().file());
  }

  Imported read_pairs() {
    task::Description d = plain_transformer(task::Description().model.task.c_str());
    model::Options& m = d.model;
    read_stack(m);
    m.encoder_layers = layers_of("encoder");
    read_positions(m, {"encoder", "decoder"});
    const TokenTables tables{"target", table_of("decoder"), "decoder/projection/weight", "decoder/projection/bias"};
    m.tied = is_tied(tensors(), tables) ? "decoder" : "none";
    const std::string unknown = word("unk_token", "<unk>"), source_table = table_of("encoder");
    const auto source = ctranslate2_tokens(folder_, {"source_vocabulary", "shared_vocabulary", "vocabulary"},
                                           rows_of(source_table), unknown);
    const auto target = ctranslate2_tokens(folder_, {"target_vocabulary", "shared_vocabulary", "vocabulary"},
                                           rows_of(tables.table), unknown);
    const TokenOrder source_order(std::ssize(source), special(source)),
        target_order(std::ssize(target), special(target));
    task::Vocabularies vocabularies{ctranslate2_tokeniser(source, source_order, "the source vocabulary"),
                                    ctranslate2_tokeniser(target, target_order, "the target vocabulary")};
    d.source.tokens = vocabularies.source->kind();
    d.target.tokens = vocabularies.target->kind();
    starts_apart_ = special(target).start != special(target).end;
    // What was written is read again with the token that begins it.
    if (m.positions == "learned") d.answers.longest = std::clamp<int64_t>(m.max_length - 1, 1, d.answers.longest);

    Imported imported{trained::make_model(std::move(d), std::move(vocabularies), 0, Start::empty)};
    Parameters& parameters = *imported.model.parameters;
    const model::Options& made = imported.model.description.model;
    Filler filler(parameters, tensors());
    fill_side(filler, made, "encoder", "source");
    fill_side(filler, made, "decoder", "target");
    filler.apply(kSource, made.decoder_layers);
    fill_norm(filler, "decoder.{}.source.norm", "decoder/layer_{}/attention/layer_norm", made.decoder_layers);
    if (made.bias) filler.apply(kSourceBiases, made.decoder_layers);
    fill_tables(filler, tensors(), {"source", source_table, "", ""}, source_order, parameters);
    fill_tables(filler, tensors(), tables, target_order, parameters);
    filler.expect_complete();
    clear_start(parameters, "target.weight");
    return imported;
  }

  Imported read_text() {
    task::Description d = plain_transformer(task::next_token_task().name);
    model::Options& m = d.model;
    read_stack(m);
    read_positions(m, {"decoder"});
    m.context = m.positions == "learned" ? m.max_length : kComputed;
    const TokenTables tables{"text", table_of("decoder"), "decoder/projection/weight", "decoder/projection/bias"};
    m.tied = is_tied(tensors(), tables) ? "decoder" : "none";
    const auto tokens = ctranslate2_tokens(folder_, {"vocabulary", "shared_vocabulary"}, rows_of(tables.table),
                                           word("unk_token", "<unk>"));
    const TokenOrder order(std::ssize(tokens), special(tokens));
    starts_apart_ = special(tokens).start != special(tokens).end;
    Imported imported{empty_text_model(std::move(d), ctranslate2_tokeniser(tokens, order, "the vocabulary"))};
    Parameters& parameters = *imported.model.parameters;
    const model::Options& made = imported.model.description.model;
    Filler filler(parameters, tensors());
    fill_side(filler, made, "decoder", "text");
    fill_tables(filler, tensors(), tables, order, parameters);
    filler.expect_complete();
    clear_start(parameters, "text.weight");
    return imported;
  }

  /// Single numbers that are 0 or say nothing; anything else would change what the model answers.
  std::vector<std::string> what_is_left() {
    std::vector<std::string> left;
    for (const std::string& name : tensors().unused()) {
      const std::string last = name.substr(name.rfind('/') + 1);
      const bool unneeded = std::ranges::count(kUnneeded, last) > 0;
      if (unneeded) {
        left.push_back(name + ": not needed to answer");
        continue;
      }
      const bool is_zero = tensors().shape(name).empty() && number(name) == 0.0;
      expect(is_zero, ErrorKind::file, "'{}' has '{}', {}, for which a model here has no place", tensors().file(), name,
             text_of(tensors().shape(name)));
      left.push_back(name + ": switched off");
    }
    return left;
  }

  static constexpr int64_t kComputed = 1024;  // positions, where the file sets no limit

  fs::path folder_;
  CTranslate2File file_;
  std::optional<JsonFile> config_;
  bool gated_ = false, has_beta_ = true, starts_apart_ = true;
};

}  // namespace

const Importer ctranslate2_importer = {
    .name = "ctranslate2",
    .meaning = "a folder of CTranslate2 (versions 2 to 6): model.bin and its vocabularies",
    .recognises =
        [](const fs::path& path) {
          std::error_code ignored;
          if (!fs::is_regular_file(path / "model.bin", ignored)) return false;
          return std::ranges::any_of(std::array{"source_vocabulary", "shared_vocabulary", "vocabulary"},
                                     [&](const char* name) {
                                       return fs::exists(path / (std::string(name) + ".json"), ignored) ||
                                              fs::exists(path / (std::string(name) + ".txt"), ignored);
                                     });
        },
    .read = [](const fs::path& path, const ImportOptions&) { return Reader(path).read(); },
};

}  // namespace heed::imports
