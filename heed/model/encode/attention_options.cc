#include "heed/model/encode/attention_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "heed/attend/all.h"
#include "heed/base/error.h"

namespace heed::encode {

namespace {

using attend::Entry;
using attend::Options;
using attend::Parts;
using attend::Replacements;
using Reasons = std::vector<std::string>;

void refuse(const Reasons& reasons) { expect(reasons.empty(), "model: {}", fmt::join(reasons, "\nmodel: ")); }

enum class Beside { source, nothing };  // what a text is written beside

/// Settings that need something a decoder and a source do not have.
Reasons what_is_missing(const Options& o, const Parts& parts, Beside beside = Beside::source) {
  Reasons reasons;
  const auto say = [&](const Entry* e) {
    if (e->not_to_source)
      reasons.push_back(fmt::format("{} = \"{}\" {}", attend::name_of(e->part), e->name, e->not_to_source));
  };
  say(parts.structure);
  say(parts.input);
  if (o.value_width != 0)
    reasons.push_back(
        fmt::format("value_width = {} needs separate values, but an encoder gives one vector per token that is both "
                    "key and value (plain mode, value_width = 0)",
                    o.value_width));
  if (beside == Beside::source)
    for (const Entry* region : parts.regions) say(region);
  return reasons;
}

/// The same, with every part that makes no sense in this attention of a Transformer replaced.
Options at_place(Options a, const Parts& parts, const Entry* Replacements::*place) {
  const auto standing = [&](const Entry* e) { return e->instead.*place ? e->instead.*place : e; };
  a.score = standing(parts.score)->name;
  a.normalise = standing(parts.normalise)->name;
  a.time = standing(parts.time)->name;
  std::vector<std::string> regions;
  for (const Entry* region : parts.regions) {
    const Entry* r = standing(region);
    if (r != &attend::global_entry && std::find(regions.begin(), regions.end(), r->name) == regions.end())
      regions.emplace_back(r->name);
  }
  a.region = regions.empty() ? attend::global_entry.name : fmt::format("{}", fmt::join(regions, "+"));
  return a;
}

std::string without_causal(const Parts& parts) {
  std::vector<std::string> others;
  for (const Entry* region : parts.regions)
    if (region != &attend::causal_entry && region != &attend::global_entry) others.emplace_back(region->name);
  return others.empty() ? attend::global_entry.name : fmt::format("{}", fmt::join(others, "+"));
}

/// What all attentions of a Transformer have in common.
Options heads(const StackOptions& options, int64_t memory_width, Beside beside = Beside::source) {
  Options a = attend::canonical(options.attention);
  const Parts parts = attend::resolve(a);
  Reasons reasons = what_is_missing(a, parts, beside);
  if (reasons.empty() && !parts.structure->has_heads) {
    const char* instead = parts.structure->in_heads_instead;
    reasons.push_back(
        fmt::format("structure = \"{}\" has no heads, which a Transformer needs; use multi_head (kv_heads below heads "
                    "shares keys and values) or single (heads = 1){}{}",
                    a.structure, instead ? "; " : "", instead ? instead : ""));
  }
  refuse(reasons);
  a.structure = attend::multi_head_entry.name;
  a.project = a.project_output = true;
  a.query_width = a.output_width = options.width;
  a.width = options.head_width > 0 ? options.head_width * a.heads : options.width;
  a.project_bias = a.project_bias && options.bias;
  a.key_width = memory_width;
  return a;
}

}  // namespace

Options encoder_self_attention(const StackOptions& options) {
  const Options named = heads(options, options.width);
  const Parts parts = attend::resolve(named);
  Options a = at_place(named, parts, &Replacements::in_encoder);
  a.input = attend::self_attention_entry.name;
  if (parts.score->past_only) a.region = without_causal(attend::resolve(a));  // it came with the score
  return a;
}

namespace {
Options to_the_past(const StackOptions& options, Beside beside) {
  const Options named = heads(options, options.width, beside);
  const Parts parts = attend::resolve(named);
  Options a = at_place(named, parts, &Replacements::in_decoder);
  a.input = attend::self_attention_entry.name;
  if (parts.score->past_only) a.strict = true;
  const std::string others = without_causal(attend::resolve(a));
  a.region = attend::causal_entry.name;
  if (others != attend::global_entry.name) a.region += "+" + others;
  return a;
}
}  // namespace

Options decoder_self_attention(const StackOptions& options) { return to_the_past(options, Beside::source); }
Options text_self_attention(const StackOptions& options) { return to_the_past(options, Beside::nothing); }

Options source_attention(const StackOptions& options, int64_t memory_width) {
  const Options named = heads(options, memory_width);
  Options a = at_place(named, attend::resolve(named), &Replacements::to_source);
  a.input = attend::cross_attention_entry.name;
  a.position = Options().position;
  a.learned_sink = false;
  return a;
}

Options source_attention(const Options& named, int64_t query_width, int64_t memory_width) {
  Options a = attend::canonical(named);
  const Parts parts = attend::resolve(a);
  Reasons reasons = what_is_missing(a, parts);
  if (parts.score->past_only || parts.input->same_rows) {
    const Entry *looks = parts.score->past_only ? parts.score : parts.input, *instead = looks->instead.to_source;
    const std::string hint = instead ? fmt::format("; {} is {}", instead->name,
                                                   looks == parts.score ? "the same score there" : "what it has")
                                     : "";
    reasons.push_back(
        fmt::format("{} = \"{}\" looks at the sequence's own past, but attention in a recurrent model goes from the "
                    "decoder to the source{}",
                    attend::name_of(looks->part), looks->name, hint));
  }
  refuse(reasons);
  // As the names alone have it.
  const Entry& structure = *parts.structure;
  if (structure.preset && (!structure.only_score || a.score == Options().score))
    a = attend::options_of(structure.name, a);
  a.query_width = query_width;
  a.key_width = memory_width;
  if (a.output_width == 0) a.output_width = query_width;
  if (!a.project && !attend::refusals(a).empty()) {
    Options projected = a;
    projected.project = true;
    if (projected.width == 0) projected.width = query_width;
    if (attend::refusals(projected).empty()) return projected;
    // Where there are no projections, the score itself has one: q^T W k.
    Options bilinear = a;
    bilinear.score = attend::general_entry.name;
    if (a.score == Options().score && attend::refusals(bilinear).empty()) return bilinear;
  }
  return a;
}

Options past_attention(const Options& named, int64_t width) {
  Options a = attend::canonical(named);
  const Parts parts = attend::resolve(a);
  a.key_width = width;
  if (parts.structure == &attend::key_value_entry) return a;
  Reasons reasons;
  const auto say = [&](const Entry* e, const char* why) {
    reasons.push_back(fmt::format("{} = \"{}\" {}", attend::name_of(e->part), e->name, why));
  };
  if (!parts.structure->has_heads && parts.structure != &attend::single_entry)
    say(parts.structure,
        "does not look from each state of a text at those before it; key_value, single and multi_head do");
  if (parts.input->own_queries) say(parts.input, "has its own queries; here the states ask");
  if (parts.time != &attend::dynamic_entry) say(parts.time, "is about a target that moves along a source");
  if (parts.has_region(attend::local_p_entry)) say(&attend::local_p_entry, "predicts a position in a source");
  for (const Entry* region : parts.regions)
    if (region->reads_documents) say(region, "is not needed: a recurrent model reads each document by itself");
  refuse(reasons);
  if (const Entry& structure = *parts.structure; structure.preset) a = attend::options_of(structure.name, a);
  a.input = attend::self_attention_entry.name;
  const std::string others = without_causal(parts);
  a.region = attend::causal_entry.name;
  if (others != attend::global_entry.name) a.region += "+" + others;
  a.strict = true;
  a.query_width = a.key_width = width;
  if (a.project && a.width == 0) a.width = width;
  if (a.output_width == 0) a.output_width = width;
  return a;
}

}  // namespace heed::encode
