// Llama in Hugging Face's layout, and Mistral and Qwen 2, which have the same parts.   Touvron et al. 2023
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/imports/huggingface.h"
#include "heed/imports/importer.h"
#include "heed/imports/make.h"
#include "heed/task/all.h"
#include "heed/task/predict_options.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

constexpr Rule kLlamaRules[] = {{"decoder.{}.self.norm.gain", "layers.{}.input_layernorm.weight"},
                                {"decoder.{}.self.query.weight", "layers.{}.self_attn.q_proj.weight"},
                                {"decoder.{}.self.key.weight", "layers.{}.self_attn.k_proj.weight"},
                                {"decoder.{}.self.value.weight", "layers.{}.self_attn.v_proj.weight"},
                                {"decoder.{}.self.output.weight", "layers.{}.self_attn.o_proj.weight"},
                                {"decoder.{}.feed_forward.norm.gain", "layers.{}.post_attention_layernorm.weight"},
                                {"decoder.{}.feed_forward.gate.weight", "layers.{}.mlp.gate_proj.weight"},
                                {"decoder.{}.feed_forward.up.weight", "layers.{}.mlp.up_proj.weight"},
                                {"decoder.{}.feed_forward.down.weight", "layers.{}.mlp.down_proj.weight"},
                                {"decoder.norm.gain", "norm.weight"}};
/// Qwen 2 has those of q, k and v.
constexpr Rule kLlamaBiases[] = {
    {"decoder.{}.self.query.bias", "layers.{}.self_attn.q_proj.bias", Form::same, true},
    {"decoder.{}.self.key.bias", "layers.{}.self_attn.k_proj.bias", Form::same, true},
    {"decoder.{}.self.value.bias", "layers.{}.self_attn.v_proj.bias", Form::same, true},
    {"decoder.{}.self.output.bias", "layers.{}.self_attn.o_proj.bias", Form::same, true},
    {"decoder.{}.feed_forward.gate.bias", "layers.{}.mlp.gate_proj.bias", Form::same, true},
    {"decoder.{}.feed_forward.up.bias", "layers.{}.mlp.up_proj.bias", Form::same, true},
    {"decoder.{}.feed_forward.down.bias", "layers.{}.mlp.down_proj.bias", Form::same, true}};

/// How fast positions turn: at the top in older files, in rope_parameters in newer ones. Stretched positions are none
/// of ours.
double rotary_base(const JsonFile& config) {
  double base = config.number("rope_theta").value_or(10000.0);
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const file::Json* inside = config.json().find(key);
    if (!inside || inside->is_null()) continue;
    const JsonFile rope(*inside, config.file() + ": " + key);
    for (const char* type : {"rope_type", "type"})
      if (rope.text(type).value_or("default") != "default") rope.refuse(type, "positions here are not stretched");
    base = rope.number("rope_theta").value_or(base);
    if (rope.number("partial_rotary_factor").value_or(1.0) != 1.0)
      rope.refuse("partial_rotary_factor", "all columns of a head are rotated here");
  }
  return base;
}

void expect_known(const JsonFile& config, int64_t context) {
  const std::string activation = config.text("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swiglu") config.refuse("hidden_act", "silu is needed");
  if (config.number("partial_rotary_factor").value_or(1.0) != 1.0)
    config.refuse("partial_rotary_factor", "all columns of a head are rotated here");
  const bool slides = config.flag("use_sliding_window", true);
  if (slides && config.integer("sliding_window").value_or(context) < context)
    config.refuse("sliding_window",
                  fmt::format("it is below the {} positions of the model; no window is imported", context));
  if (config.number("pretraining_tp").value_or(1) != 1) config.refuse("pretraining_tp", "1 is needed");
}

task::Description llama_description(const JsonFile& config, const ForeignTensors& tensors) {
  task::Description d = plain_transformer(task::next_token_task().name);
  model::Options& m = d.model;
  m.width = config.needed("hidden_size");
  m.hidden = config.needed("intermediate_size");
  m.decoder_layers = config.needed("num_hidden_layers");
  set_heads(m, config.needed("num_attention_heads"), config.integer("num_key_value_heads").value_or(0), config.file());
  m.head_width = config.integer("head_dim").value_or(0);
  m.context = std::min<int64_t>(config.integer("max_position_embeddings").value_or(2048), task::kLongest);
  expect_known(config, m.context);
  m.norm = "pre";
  m.norm_kind = "rms";
  m.norm_epsilon = static_cast<float>(config.number("rms_norm_eps").value_or(1e-6));
  m.positions = "rotary";
  m.attention.rotary_halves = true;
  m.attention.rotary_base = static_cast<float>(rotary_base(config));
  m.activation = "swiglu";
  m.scale_embeddings = false;
  m.bias = tensors.has("layers.0.self_attn.q_proj.bias") || tensors.has("layers.0.mlp.gate_proj.bias");
  d.answers.longest = std::min(m.context, d.answers.longest);
  return d;
}

Imported read_llama(const fs::path& path, const ImportOptions& options) {
  const JsonFile config(path / "config.json");
  ForeignTensors tensors = read_huggingface_tensors(path, "model.");
  task::Description d = llama_description(config, tensors);
  const TokenTables tables{"text", "embed_tokens.weight", "lm_head.weight", "lm_head.bias"};
  d.model.tied = is_tied(tensors, tables) ? "decoder" : "none";
  const HuggingFaceTokens tokens = read_huggingface_tokens(path, options.tokeniser, config);
  const model::Options m = d.model;
  Imported imported{empty_text_model(std::move(d), tokens.tokeniser)};
  Filler filler(*imported.model.parameters, tensors);
  filler.apply(kLlamaRules, m.decoder_layers);
  if (m.bias) filler.apply(kLlamaBiases, m.decoder_layers);
  fill_tables(filler, tensors, tables, tokens.order, *imported.model.parameters);
  filler.expect_complete();
  constexpr Unneeded kAngles[] = {{[](std::string_view name) { return name.ends_with("rotary_emb.inv_freq"); },
                                   "angles, which follow from the sizes"}};
  leave_unneeded(tensors, kAngles, imported);
  imported.found = {{"architecture", config.text("model_type").value_or("llama") + " of transformers"}};
  tell_huggingface(imported, path, tokens);
  return imported;
}

}  // namespace

const Importer llama_importer = {
    .name = "llama",
    .meaning =
        "a folder of Hugging Face's transformers with a Llama, Mistral or Qwen 2: config.json, safetensors and a "
        "tokeniser",
    .recognises =
        [](const fs::path& path) {
          return is_huggingface(path, {"llama", "mistral", "qwen2"});
        },
    .read = read_llama,
};

}  // namespace heed::imports
