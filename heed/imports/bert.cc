// Encoders in Hugging Face's layout: BERT (Devlin et al. 2019), DistilBERT (Sanh et al. 2019), RoBERTa (Liu et al.
// 2019) and ALBERT (Lan et al. 2020). By their heads they fill in masked tokens, give labels, or vectors.
#include <fmt/format.h>

#include <algorithm>

#include "heed/base/choice.h"
#include "heed/base/error.h"
#include "heed/imports/bert_layouts.h"
#include "heed/imports/huggingface.h"
#include "heed/imports/importer.h"
#include "heed/imports/make.h"
#include "heed/imports/sentence_vectors.h"
#include "heed/model/encode/shared_layers.h"
#include "heed/task/all.h"
#include "heed/text/tokens.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

/// What a model is for, from the tensors behind its layers.
enum class Head { vectors, masked, labels };

Head head_of(const ForeignTensors& tensors, const BertLayout& layout, const JsonFile& config) {
  if (tensors.has(layout.masked.begin()->from)) return Head::masked;
  if (!tensors.has(layout.labels.back().from)) return Head::vectors;
  // The same names as for labels of single tokens and for answers in texts.
  const file::Json* of = config.json().find("architectures");
  const std::vector<std::string> names = of ? texts_of(*of, config.file()) : std::vector<std::string>();
  const bool labels =
      std::ranges::any_of(names, [](const std::string& name) { return name.ends_with("ForSequenceClassification"); });
  if (!labels) config.refuse("architectures", "of classifiers, those of whole texts can be imported");
  return Head::labels;
}

task::Description description_of(const JsonFile& config, const BertLayout& layout, Head head) {
  for (const auto& [key, value] : {std::pair("position_embedding_type", "absolute")})
    if (config.text(key).value_or(value) != value) config.refuse(key, fmt::format("{} is needed", value));
  if (config.flag("is_decoder", false)) config.refuse("is_decoder", "an encoder is needed, which looks both ways");
  const task::Task& task = head == Head::masked   ? task::masked_token_task()
                           : head == Head::labels ? task::label_task()
                                                  : task::vector_task();
  task::Description d = plain_transformer(task.name);
  model::Options& m = d.model;
  m.width = config.needed(layout.width);
  m.hidden = config.needed(layout.hidden);
  m.encoder_layers = config.needed(layout.layers);
  set_heads(m, config.needed(layout.heads), 0, config.file());
  m.norm = "post";
  m.norm_epsilon = static_cast<float>(config.number("layer_norm_eps").value_or(1e-12));
  m.embedding_norm = true;
  m.scale_embeddings = false;
  m.positions = "learned";
  m.activation = activation_of(config, layout.activation, layout.activation_missing);
  m.framed = true;
  if (layout.shared_layers) {
    for (const char* key : {"num_hidden_groups", "inner_group_num"})
      if (config.integer(key).value_or(1) != 1) config.refuse(key, "one group of layers is needed");
    encode::set_shared_layers(m.own, true);
    const int64_t table = config.integer("embedding_size").value_or(128);
    m.embedding_width = table == m.width ? 0 : table;
  }
  return d;
}

/// Positions and the first of the token types, which all tokens of a text have, in one table.
void fill_positions(Filler& filler, ForeignTensors& tensors, const BertLayout& layout, int64_t skipped) {
  const std::string name = "embeddings.position_embeddings.weight", types = "embeddings.token_type_embeddings.weight";
  const int64_t width = tensors.shape(name)[1];
  std::vector<float> rows = tensors.take(name);
  rows.erase(rows.begin(), rows.begin() + skipped * width);
  if (layout.token_types) {
    const std::vector<float> type = tensors.take(types, {tensors.shape(types).at(0), width});
    expect(!type.empty(), ErrorKind::file, "'{}': '{}' has no rows", tensors.file(), types);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] += type[i % static_cast<size_t>(width)];
  }
  filler.set("source.position", std::move(rows), name);
}

/// Rows of the table of positions, of which RoBERTa uses those behind that of padding.
int64_t positions_of(const ForeignTensors& tensors, int64_t skipped) {
  const Shape& shape = tensors.shape("embeddings.position_embeddings.weight");
  expect(shape.size() == 2 && shape[0] > skipped && shape[1] > 0, ErrorKind::file,
         "'{}': 'embeddings.position_embeddings.weight' is {}, but should be a table of more than {} rows",
         tensors.file(), text_of(shape), skipped);
  return shape[0] - skipped;
}

/// id2label: {"0": "NEGATIVE", ..}
std::shared_ptr<const text::Tokeniser> labels_of(const JsonFile& config, int64_t count) {
  if (config.text("problem_type").value_or("") == "regression" || count < 2)
    config.refuse("problem_type", "a number as the answer is not known here, labels are");
  std::vector<std::string> labels;
  const file::Json* names = config.json().find("id2label");
  for (int64_t i = 0; i < count; ++i) {
    const file::Json* name = names ? names->find(std::to_string(i)) : nullptr;
    const auto* word = name ? name->as<std::string>() : nullptr;
    labels.push_back(word ? *word : fmt::format("LABEL_{}", i));
    expect(std::ranges::count(labels, labels.back()) == 1, ErrorKind::file, "'{}': id2label has '{}' twice",
           config.file(), labels.back());
  }
  return text::Tokeniser::parse("lines", vocabulary_contents(labels), config.file());
}

trained::TrainedModel empty_model(task::Description d, const JsonFile& config, const ForeignTensors& tensors,
                                  const BertLayout& layout, const HuggingFaceTokens& tokens, Head head) {
  d.source.tokens = d.target.tokens = tokens.tokeniser->kind();
  d.joint = head != Head::labels;
  task::Vocabularies v{tokens.tokeniser, tokens.tokeniser};
  if (head == Head::labels) {
    v.target = labels_of(config, tensors.shape(layout.labels.back().from).at(0));
    d.target.tokens = v.target->kind();
    d.model.pool = "first";
    d.model.pool_layer = layout.pool_layer;
    if (config.text("problem_type").value_or("") == "multi_label_classification") d.answers.label_separator = ",";
  }
  if (head == Head::masked) d.answers.documents = "line";
  return trained::make_model(std::move(d), std::move(v), 0, Start::empty);
}

constexpr Unneeded kUnneededOfBert[] = {
    {[](std::string_view name) { return name.ends_with("position_ids") || name.ends_with("token_type_ids"); },
     "numbers from 0 on"},
    {[](std::string_view name) { return name.starts_with("pooler."); }, "for whether a sentence follows another"},
    {[](std::string_view name) { return name.starts_with("cls.seq_relationship.") || name.starts_with("sop_"); },
     "for whether a sentence follows another"},
    {[](std::string_view name) {
       return name == "cls.predictions.decoder.bias" || name == "lm_head.decoder.bias" ||
              name == "predictions.decoder.bias";
     },
     "the same as another bias"}};

void fill_masked(Filler& filler, ForeignTensors& tensors, const BertLayout& layout, const HuggingFaceTokens& tokens,
                 const Parameters& parameters) {
  filler.apply(layout.masked, 1);
  const std::string table = "embeddings.word_embeddings.weight";
  const int64_t width = tensors.shape(table)[1];
  expect(tokens.mask.has_value(), ErrorKind::file, "'{}' has no [MASK] or <mask>, which such a model needs",
         tokens.file);
  const std::vector<float> rows = tensors.take(table);
  filler.set("source.blank", {rows.begin() + *tokens.mask * width, rows.begin() + (*tokens.mask + 1) * width}, table);
  fill_tables(filler, tensors, {"source", table, std::string(layout.output), std::string(layout.output_bias)},
              tokens.order, parameters);
}

Imported read_bert(const fs::path& path, const ImportOptions& options) {
  const JsonFile config(path / "config.json");
  const BertLayout& layout = bert_layout(config.text("model_type").value_or(""));
  ForeignTensors tensors = read_huggingface_tensors(path, layout.prefix);
  const Head head = head_of(tensors, layout, config);
  task::Description d = description_of(config, layout, head);
  const int64_t skipped = layout.skips_padding ? config.integer("pad_token_id").value_or(1) + 1 : 0;
  d.model.max_length = positions_of(tensors, skipped);
  d.model.context = d.model.max_length;
  d.answers.max_source = head == Head::masked ? 0 : d.model.max_length;
  std::vector<std::pair<const char*, std::string>> said;
  if (head == Head::vectors) said = read_sentence_vectors(path, d);
  const TokenTables tables{"source", "embeddings.word_embeddings.weight", std::string(layout.output), ""};
  if (head == Head::masked) d.model.tied = is_tied(tensors, tables) ? "all" : "none";
  const HuggingFaceTokens tokens = read_encoder_tokens(path, options.tokeniser, config);

  const int64_t layers = layout.shared_layers ? 1 : d.model.encoder_layers;
  Imported imported{empty_model(std::move(d), config, tensors, layout, tokens, head)};
  const Parameters& parameters = *imported.model.parameters;
  Filler filler(*imported.model.parameters, tensors);
  filler.apply(kBertVectors, 1);
  if (imported.model.description.model.embedding_width > 0) filler.apply(kAlbertWiden, 1);
  fill_positions(filler, tensors, layout, skipped);
  filler.apply(layout.blocks, layers, head == Head::labels ? "text." : "");
  if (head == Head::labels) filler.apply(layout.labels, 1);
  if (head == Head::masked)
    fill_masked(filler, tensors, layout, tokens, parameters);
  else
    fill_tables(filler, tensors, {"source", tables.table, "", ""}, tokens.order, parameters);
  filler.expect_complete();
  leave_unneeded(tensors, kUnneededOfBert, imported);
  if (layout.token_types && tensors.shape("embeddings.token_type_embeddings.weight")[0] > 1)
    imported.left.emplace_back("embeddings.token_type_embeddings.weight, from its second row on: of a second text");
  imported.found = {
      {"architecture", fmt::format("{} of transformers, {}", layout.name, imported.model.task().meaning)}};
  imported.found.insert(imported.found.end(), said.begin(), said.end());
  tell_huggingface(imported, path, tokens);
  return imported;
}

}  // namespace

const Importer bert_importer = {
    .name = "bert",
    .meaning =
        "a folder of Hugging Face's transformers with a BERT, DistilBERT, RoBERTa or ALBERT: config.json, "
        "safetensors and a tokeniser",
    .recognises = [](const fs::path& path) { return is_huggingface(path, bert_types()); },
    .read = read_bert,
};

}  // namespace heed::imports
