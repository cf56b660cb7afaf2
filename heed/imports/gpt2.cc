// GPT-2 in Hugging Face's layout.   Radford et al. 2019
#include <fmt/format.h>

#include <algorithm>

#include "heed/imports/huggingface.h"
#include "heed/imports/importer.h"
#include "heed/imports/make.h"
#include "heed/task/all.h"
#include "heed/task/predict_options.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

// Its linear layers are [in, out].
constexpr Rule kGpt2Rules[] = {{"text.position", "wpe.weight"},
                               {"decoder.{}.self.norm.gain", "h.{}.ln_1.weight"},
                               {"decoder.{}.self.norm.bias", "h.{}.ln_1.bias"},
                               {"decoder.{}.self.query.weight", "h.{}.attn.c_attn.weight", Form::turned},
                               {"decoder.{}.self.key.weight", "h.{}.attn.c_attn.weight", Form::turned},
                               {"decoder.{}.self.value.weight", "h.{}.attn.c_attn.weight", Form::turned},
                               {"decoder.{}.self.query.bias", "h.{}.attn.c_attn.bias"},
                               {"decoder.{}.self.key.bias", "h.{}.attn.c_attn.bias"},
                               {"decoder.{}.self.value.bias", "h.{}.attn.c_attn.bias"},
                               {"decoder.{}.self.output.weight", "h.{}.attn.c_proj.weight", Form::turned},
                               {"decoder.{}.self.output.bias", "h.{}.attn.c_proj.bias"},
                               {"decoder.{}.feed_forward.norm.gain", "h.{}.ln_2.weight"},
                               {"decoder.{}.feed_forward.norm.bias", "h.{}.ln_2.bias"},
                               {"decoder.{}.feed_forward.up.weight", "h.{}.mlp.c_fc.weight", Form::turned},
                               {"decoder.{}.feed_forward.up.bias", "h.{}.mlp.c_fc.bias"},
                               {"decoder.{}.feed_forward.down.weight", "h.{}.mlp.c_proj.weight", Form::turned},
                               {"decoder.{}.feed_forward.down.bias", "h.{}.mlp.c_proj.bias"},
                               {"decoder.norm.gain", "ln_f.weight"},
                               {"decoder.norm.bias", "ln_f.bias"}};

task::Description gpt2_description(const JsonFile& config) {
  if (config.flag("scale_attn_by_inverse_layer_idx", false))
    config.refuse("scale_attn_by_inverse_layer_idx", "scores here are divided by the root of a head's width alone");
  if (!config.flag("scale_attn_weights", true))
    config.refuse("scale_attn_weights", "scores here are divided by the root of a head's width");
  if (config.flag("add_cross_attention", false)) config.refuse("add_cross_attention", "a text here has no source");
  task::Description d = plain_transformer(task::next_token_task().name);
  model::Options& m = d.model;
  m.width = config.needed("n_embd");
  m.hidden = config.integer("n_inner").value_or(4 * m.width);
  m.decoder_layers = config.needed("n_layer");
  set_heads(m, config.needed("n_head"), 0, config.file());
  m.context = m.max_length = config.needed("n_positions");
  m.norm = "pre";
  m.norm_epsilon = static_cast<float>(config.number("layer_norm_epsilon").value_or(1e-5));
  m.positions = "learned";
  m.activation = activation_of(config, "activation_function", "gelu_new");
  m.scale_embeddings = false;
  d.answers.longest = std::min(m.context, d.answers.longest);
  return d;
}

/// Masks of old files: which keys a query sees.
bool is_mask(std::string_view name) { return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"); }

Imported read_gpt2(const fs::path& path, const ImportOptions& options) {
  const JsonFile config(path / "config.json");
  ForeignTensors tensors = read_huggingface_tensors(path, "transformer.");
  task::Description d = gpt2_description(config);
  const TokenTables tables{"text", "wte.weight", "lm_head.weight", "lm_head.bias"};
  d.model.tied = is_tied(tensors, tables) ? "decoder" : "none";
  const HuggingFaceTokens tokens = read_huggingface_tokens(path, options.tokeniser, config);
  const int64_t layers = d.model.decoder_layers;
  Imported imported{empty_text_model(std::move(d), tokens.tokeniser)};
  Filler filler(*imported.model.parameters, tensors);
  filler.apply(kGpt2Rules, layers);
  fill_tables(filler, tensors, tables, tokens.order, *imported.model.parameters);
  filler.expect_complete();
  constexpr Unneeded kMasks[] = {{is_mask, "a mask, which follows from the positions"}};
  leave_unneeded(tensors, kMasks, imported);
  imported.found = {{"architecture", "GPT-2 of transformers"}};
  tell_huggingface(imported, path, tokens);
  return imported;
}

}  // namespace

const Importer gpt2_importer = {
    .name = "gpt2",
    .meaning = "a folder of Hugging Face's transformers with a GPT-2: config.json, safetensors and a tokeniser",
    .recognises = [](const fs::path& path) { return is_huggingface(path, {"gpt2"}); },
    .read = read_gpt2,
};

}  // namespace heed::imports
