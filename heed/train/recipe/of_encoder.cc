#include "heed/train/recipe/of_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "heed/base/fields.h"
#include "heed/model/encode/all.h"
#include "heed/train/recipe/sections.h"
#include "heed/train/recipe/settle.h"

namespace heed::recipe {

namespace {

using task::EncoderPart;

/// Keys that define an encoder, in the words of any task, beside those of [attention].
constexpr std::string_view kOfTheEncoder[] = {
    "model.kind",      "model.encoder",       "model.width",      "model.encoder_layers", "model.layers",
    "model.cell",      "model.bidirectional", "model.hidden",     "model.activation",     "model.norm",
    "model.norm_kind", "model.norm_epsilon",  "model.final_norm", "model.embedding_norm", "model.scale_embeddings",
    "model.bias",      "model.head_width",    "model.positions",  "model.max_length",     "data.source_tokens",
    "data.text_tokens"};

/// Whether [attention] is, in both tasks, that of the encoder; elsewhere it is that of a pool or of a decoder.
bool attention_is_of_the_encoder(const EncoderPart& here, const EncoderPart& there) {
  return !here.only_heads && !there.only_heads;
}

bool is_of_the_encoder(std::string_view key, const EncoderPart& here, const EncoderPart& there) {
  if (key.starts_with("attention.encoder.")) return true;
  if (key.starts_with("attention.")) {
    if (!encode::find_encoder(there.kind).self_attention) return false;
    return attention_is_of_the_encoder(here, there) || key == "attention.heads";
  }
  return std::find(std::begin(kOfTheEncoder), std::end(kOfTheEncoder), key) != std::end(kOfTheEncoder);
}

EncoderPart part_of(const Recipe& recipe) { return recipe.task().encoder_part(recipe.model).value_or(EncoderPart()); }

/// A recipe of `task` with the encoder of `theirs`; all else is open.
Recipe with_encoder_of(const Recipe& theirs, const task::Task& task) {
  const EncoderPart there = part_of(theirs);
  Recipe r;
  task.set_defaults(r.data, r.model);
  const model::Options defaults = r.model;
  r.model = theirs.model;
  r.model.task = task.name;
  r.model.kind = there.kind;
  r.model.encoder = r.model.decoder = "";
  r.model.bidirectional = there.both_ways;
  r.model.encoder_layers = there.depth;
  r.model.decoder_layers = there.depth;  // where a decoder without a source is what reads
  r.data.source = theirs.data.source;
  const std::optional<EncoderPart> here = task.encoder_part(r.model);
  if (here && !attention_is_of_the_encoder(*here, there)) {
    r.model.attention = defaults.attention;
    r.model.attention.heads = theirs.model.attention.heads;
  }
  std::erase_if(r.model.places, [](const auto& each) {
    return each.first != encode::kEncoderPlace && !each.first.starts_with(std::string(encode::kEncoderPlace) + ".");
  });
  file::Fields fields;
  add_sections(fields, r, task);
  for (const std::string& key : fields.keys())
    if (!here || !is_of_the_encoder(key, *here, there)) r.open.insert(key);
  return r;
}

/// What the attention of that encoder is, and of another task's cannot be; empty: nothing.
std::string lost_attention(const Recipe& theirs, const EncoderPart& here) {
  std::string lost;
  if (!here.only_heads || !encode::find_encoder(here.kind).self_attention) return lost;
  data::Options unused;
  model::Options plain;
  theirs.task().set_defaults(unused, plain);
  plain.attention.heads = theirs.model.attention.heads;
  Recipe with_plain = theirs;
  with_plain.model.attention = plain.attention;
  std::erase_if(with_plain.model.places,
                [](const auto& each) { return !each.first.starts_with(encode::kEncoderPlace); });
  for (const auto& [key, there, usual] : differences(theirs, with_plain))
    if (key.starts_with("attention.")) lost += fmt::format("{}{} = {}", lost.empty() ? "" : ", ", key, there);
  return lost;
}

}  // namespace

bool may_start_from_encoder(const task::Task& task, const Recipe& theirs) {
  return task.encoder_part(theirs.model) && theirs.task().encoder_part(theirs.model);
}

void settle_as_encoder(Recipe& recipe, const Recipe& theirs) {
  if (!may_start_from_encoder(recipe.task(), theirs)) return;
  const Recipe from = with_encoder_of(theirs, recipe.task());
  // A decoder of another kind may be asked for beside it.
  const bool mixed = !is_open(recipe, "model.kind") && recipe.model.kind != from.model.kind;
  std::set<std::string> keys;
  for (const std::string& key : recipe.open)
    if (!is_open(from, key) && !(mixed && key == "model.encoder")) keys.insert(key);
  const std::set<std::string> given = places_of(recipe);
  for (const std::string& key : places_of(from))
    if (!given.contains(key)) keys.insert(key);
  copy(recipe, from, keys);
  if (mixed && is_open(recipe, "model.encoder")) {
    const std::string settings[] = {"model.encoder=" + from.model.kind};
    set(recipe, settings);
  }
}

void expect_encoder_of(const Recipe& recipe, const Recipe& theirs, std::string_view name) {
  const std::string& task = recipe.model.task;
  const EncoderPart here = part_of(recipe), there = part_of(theirs);
  std::string wrong;
  const auto say = [&](std::string what) { wrong += (wrong.empty() ? "" : "\n") + std::move(what); };
  if (here.kind != there.kind)
    say(fmt::format("the encoder is \"{}\" (model.kind or model.encoder), but that of '{}' is \"{}\"", here.kind, name,
                    there.kind));
  const Recipe from = with_encoder_of(theirs, recipe.task());
  for (const auto& [key, mine, other] : differences(recipe, from))
    if (is_of_the_encoder(key, here, there) && key != "model.kind" && key != "model.encoder" && !is_open(theirs, key))
      say(fmt::format("{} is {}, but '{}' was trained with {}", key, mine, name, other));
  if (!wrong.empty()) throw RecipeError(wrong + "\nleave these keys out: they follow from the weights");
  if (const std::string lost = lost_attention(theirs, here); !lost.empty())
    throw RecipeError(
        fmt::format("'{}' was trained with {}, but for model.task = \"{}\" [attention] is not that of the "
                    "encoder, which has scaled_dot in all heads: its weights do not fit",
                    name, lost, task));
}

}  // namespace heed::recipe
