#include "heed/imports/bert_layouts.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::imports {

namespace {

constexpr Rule kBertBlocks[] = {{"encoder.{}.self.query.weight", "encoder.layer.{}.attention.self.query.weight"},
                                {"encoder.{}.self.query.bias", "encoder.layer.{}.attention.self.query.bias"},
                                {"encoder.{}.self.key.weight", "encoder.layer.{}.attention.self.key.weight"},
                                {"encoder.{}.self.key.bias", "encoder.layer.{}.attention.self.key.bias"},
                                {"encoder.{}.self.value.weight", "encoder.layer.{}.attention.self.value.weight"},
                                {"encoder.{}.self.value.bias", "encoder.layer.{}.attention.self.value.bias"},
                                {"encoder.{}.self.output.weight", "encoder.layer.{}.attention.output.dense.weight"},
                                {"encoder.{}.self.output.bias", "encoder.layer.{}.attention.output.dense.bias"},
                                {"encoder.{}.self.norm.gain", "encoder.layer.{}.attention.output.LayerNorm.weight"},
                                {"encoder.{}.self.norm.bias", "encoder.layer.{}.attention.output.LayerNorm.bias"},
                                {"encoder.{}.feed_forward.up.weight", "encoder.layer.{}.intermediate.dense.weight"},
                                {"encoder.{}.feed_forward.up.bias", "encoder.layer.{}.intermediate.dense.bias"},
                                {"encoder.{}.feed_forward.down.weight", "encoder.layer.{}.output.dense.weight"},
                                {"encoder.{}.feed_forward.down.bias", "encoder.layer.{}.output.dense.bias"},
                                {"encoder.{}.feed_forward.norm.gain", "encoder.layer.{}.output.LayerNorm.weight"},
                                {"encoder.{}.feed_forward.norm.bias", "encoder.layer.{}.output.LayerNorm.bias"}};
constexpr Rule kDistilBlocks[] = {
    {"encoder.{}.self.query.weight", "transformer.layer.{}.attention.q_lin.weight"},
    {"encoder.{}.self.query.bias", "transformer.layer.{}.attention.q_lin.bias"},
    {"encoder.{}.self.key.weight", "transformer.layer.{}.attention.k_lin.weight"},
    {"encoder.{}.self.key.bias", "transformer.layer.{}.attention.k_lin.bias"},
    {"encoder.{}.self.value.weight", "transformer.layer.{}.attention.v_lin.weight"},
    {"encoder.{}.self.value.bias", "transformer.layer.{}.attention.v_lin.bias"},
    {"encoder.{}.self.output.weight", "transformer.layer.{}.attention.out_lin.weight"},
    {"encoder.{}.self.output.bias", "transformer.layer.{}.attention.out_lin.bias"},
    {"encoder.{}.self.norm.gain", "transformer.layer.{}.sa_layer_norm.weight"},
    {"encoder.{}.self.norm.bias", "transformer.layer.{}.sa_layer_norm.bias"},
    {"encoder.{}.feed_forward.up.weight", "transformer.layer.{}.ffn.lin1.weight"},
    {"encoder.{}.feed_forward.up.bias", "transformer.layer.{}.ffn.lin1.bias"},
    {"encoder.{}.feed_forward.down.weight", "transformer.layer.{}.ffn.lin2.weight"},
    {"encoder.{}.feed_forward.down.bias", "transformer.layer.{}.ffn.lin2.bias"},
    {"encoder.{}.feed_forward.norm.gain", "transformer.layer.{}.output_layer_norm.weight"},
    {"encoder.{}.feed_forward.norm.bias", "transformer.layer.{}.output_layer_norm.bias"}};
constexpr Rule kAlbertBlocks[] = {
    {"encoder.0.self.query.weight", "encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight"},
    {"encoder.0.self.query.bias", "encoder.albert_layer_groups.0.albert_layers.0.attention.query.bias"},
    {"encoder.0.self.key.weight", "encoder.albert_layer_groups.0.albert_layers.0.attention.key.weight"},
    {"encoder.0.self.key.bias", "encoder.albert_layer_groups.0.albert_layers.0.attention.key.bias"},
    {"encoder.0.self.value.weight", "encoder.albert_layer_groups.0.albert_layers.0.attention.value.weight"},
    {"encoder.0.self.value.bias", "encoder.albert_layer_groups.0.albert_layers.0.attention.value.bias"},
    {"encoder.0.self.output.weight", "encoder.albert_layer_groups.0.albert_layers.0.attention.dense.weight"},
    {"encoder.0.self.output.bias", "encoder.albert_layer_groups.0.albert_layers.0.attention.dense.bias"},
    {"encoder.0.self.norm.gain", "encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.weight"},
    {"encoder.0.self.norm.bias", "encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.bias"},
    {"encoder.0.feed_forward.up.weight", "encoder.albert_layer_groups.0.albert_layers.0.ffn.weight"},
    {"encoder.0.feed_forward.up.bias", "encoder.albert_layer_groups.0.albert_layers.0.ffn.bias"},
    {"encoder.0.feed_forward.down.weight", "encoder.albert_layer_groups.0.albert_layers.0.ffn_output.weight"},
    {"encoder.0.feed_forward.down.bias", "encoder.albert_layer_groups.0.albert_layers.0.ffn_output.bias"},
    {"encoder.0.feed_forward.norm.gain", "encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.weight"},
    {"encoder.0.feed_forward.norm.bias", "encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.bias"}};

constexpr Rule kBertMasked[] = {{"transform.weight", "cls.predictions.transform.dense.weight"},
                                {"transform.bias", "cls.predictions.transform.dense.bias"},
                                {"transform.norm.gain", "cls.predictions.transform.LayerNorm.weight"},
                                {"transform.norm.bias", "cls.predictions.transform.LayerNorm.bias"}};
constexpr Rule kDistilMasked[] = {{"transform.weight", "vocab_transform.weight"},
                                  {"transform.bias", "vocab_transform.bias"},
                                  {"transform.norm.gain", "vocab_layer_norm.weight"},
                                  {"transform.norm.bias", "vocab_layer_norm.bias"}};
constexpr Rule kRobertaMasked[] = {{"transform.weight", "lm_head.dense.weight"},
                                   {"transform.bias", "lm_head.dense.bias"},
                                   {"transform.norm.gain", "lm_head.layer_norm.weight"},
                                   {"transform.norm.bias", "lm_head.layer_norm.bias"}};
constexpr Rule kAlbertMasked[] = {{"transform.weight", "predictions.dense.weight"},
                                  {"transform.bias", "predictions.dense.bias"},
                                  {"transform.norm.gain", "predictions.LayerNorm.weight"},
                                  {"transform.norm.bias", "predictions.LayerNorm.bias"}};

constexpr Rule kBertLabels[] = {{"text.pool.layer.weight", "pooler.dense.weight"},
                                {"text.pool.layer.bias", "pooler.dense.bias"},
                                {"output.weight", "classifier.weight"},
                                {"output.bias", "classifier.bias"}};
constexpr Rule kDistilLabels[] = {{"text.pool.layer.weight", "pre_classifier.weight"},
                                  {"text.pool.layer.bias", "pre_classifier.bias"},
                                  {"output.weight", "classifier.weight"},
                                  {"output.bias", "classifier.bias"}};
constexpr Rule kRobertaLabels[] = {{"text.pool.layer.weight", "classifier.dense.weight"},
                                   {"text.pool.layer.bias", "classifier.dense.bias"},
                                   {"output.weight", "classifier.out_proj.weight"},
                                   {"output.bias", "classifier.out_proj.bias"}};
constexpr Rule kAlbertLabels[] = {{"text.pool.layer.weight", "pooler.weight"},
                                  {"text.pool.layer.bias", "pooler.bias"},
                                  {"output.weight", "classifier.weight"},
                                  {"output.bias", "classifier.bias"}};

constexpr BertLayout bert_like(const char* type, const char* name, const char* prefix) {
  return {.type = type,
          .name = name,
          .prefix = prefix,
          .width = "hidden_size",
          .hidden = "intermediate_size",
          .layers = "num_hidden_layers",
          .heads = "num_attention_heads",
          .activation = "hidden_act",
          .activation_missing = "gelu",
          .blocks = kBertBlocks,
          .masked = kBertMasked,
          .output = "cls.predictions.decoder.weight",
          .output_bias = "cls.predictions.bias",
          .labels = kBertLabels,
          .pool_layer = "tanh"};
}

constexpr BertLayout roberta() {
  BertLayout l = bert_like("roberta", "RoBERTa", "roberta.");
  l.skips_padding = true;
  l.masked = kRobertaMasked;
  l.output = "lm_head.decoder.weight";
  l.output_bias = "lm_head.bias";
  l.labels = kRobertaLabels;
  return l;
}

constexpr BertLayout distilbert() {
  BertLayout l = bert_like("distilbert", "DistilBERT", "distilbert.");
  l.width = "dim";
  l.hidden = "hidden_dim";
  l.layers = "n_layers";
  l.heads = "n_heads";
  l.activation = "activation";
  l.token_types = false;
  l.blocks = kDistilBlocks;
  l.masked = kDistilMasked;
  l.output = "vocab_projector.weight";
  l.output_bias = "vocab_projector.bias";
  l.labels = kDistilLabels;
  l.pool_layer = "relu";
  return l;
}

constexpr BertLayout albert() {
  BertLayout l = bert_like("albert", "ALBERT", "albert.");
  l.activation_missing = "gelu_new";
  l.shared_layers = true;
  l.blocks = kAlbertBlocks;
  l.masked = kAlbertMasked;
  l.output = "predictions.decoder.weight";
  l.output_bias = "predictions.bias";
  l.labels = kAlbertLabels;
  return l;
}

constexpr BertLayout kLayouts[] = {bert_like("bert", "BERT", "bert."), distilbert(), roberta(), albert()};

}  // namespace

const BertLayout& bert_layout(std::string_view type) {
  const auto* found = std::ranges::find_if(kLayouts, [&](const BertLayout& l) { return l.type == type; });
  expect(found != std::end(kLayouts), ErrorKind::bug, "import: no layout '{}'", type);
  return *found;
}

std::vector<std::string> bert_types() {
  std::vector<std::string> all;
  for (const BertLayout& l : kLayouts) all.emplace_back(l.type);
  return all;
}

}  // namespace heed::imports
