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
using attend::Part;
using attend::Parts;
using attend::Replacements;
using Reasons = std::vector<std::string>;

/// Where an attention is, and what it looks from and at.
struct At {
  const char* place;
  int64_t layer = 0;
  const Entry* Replacements::*instead = nullptr;
};

void refuse(const Reasons& reasons, const std::string& about = "model: ") {
  expect(reasons.empty(), "{}{}", about, fmt::join(reasons, "\n" + about));
}
void refuse(const Reasons& reasons, const StackOptions& options, const At& at) {
  const bool here = is_chosen(options.places, at.place);
  refuse(reasons, here ? about(options.places, at.place, at.layer) : "model: ");
}

std::string sentence(const Entry* e, std::string_view why) {
  return fmt::format("{} = \"{}\" {}", attend::name_of(e->part), e->name, why);
}

enum class Beside { source, nothing };  // what a text is written beside

/// Settings that need something a decoder and a source do not have.
Reasons what_is_missing(const Options& o, const Parts& parts, Beside beside = Beside::source) {
  Reasons reasons;
  const auto say = [&](const Entry* e) {
    if (e->not_to_source) reasons.push_back(sentence(e, e->not_to_source));
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

/// What was named for a place of self-attention and has no meaning there.
Reasons what_has_no_steps(const Chosen& named, const At& at) {
  const Parts parts = attend::resolve(named.options);
  const bool to_past = at.instead == &Replacements::in_decoder;
  Reasons reasons;
  if (at.instead == &Replacements::to_source) {
    if (named.names("score") && parts.score->past_only)
      reasons.push_back(sentence(parts.score,
                                 "looks at the sequence's own past, and a source is another sequence; "
                                 "general is the same score there"));
    return reasons;
  }
  if (named.names("time") && parts.time != &attend::dynamic_entry)
    reasons.push_back(sentence(parts.time, "is about a target that moves along a source: for [attention.source]"));
  if (named.names("normalise") && parts.normalise->draws)
    reasons.push_back(
        sentence(parts.normalise,
                 "is rewarded for the token that a choice in the source leads to: for [attention.source]; "
                 "hard chooses without a reward"));
  if (to_past && named.names("region") && parts.has_region(attend::local_p_entry))
    reasons.push_back(sentence(&attend::local_p_entry, "predicts a position in a source, whose end is known"));
  return reasons;
}

/// What was asked for, with every part that makes no sense at this place replaced, unless it was named for it.
Options at_place(const Chosen& named, const At& at) {
  Options a = named.options;
  const Parts parts = attend::resolve(a);
  const auto standing = [&](const char* option, const Entry* e) {
    const Entry* other = e->instead.*at.instead;
    return other && !named.names(option) ? other : e;
  };
  a.score = standing("score", parts.score)->name;
  a.normalise = standing("normalise", parts.normalise)->name;
  a.time = standing("time", parts.time)->name;
  std::vector<std::string> regions;
  for (const Entry* region : parts.regions) {
    const Entry* r = standing("region", region);
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

std::string with_causal(const Parts& parts) {
  const std::string others = without_causal(parts), causal = attend::causal_entry.name;
  return others == attend::global_entry.name ? causal : causal + "+" + others;
}

Chosen canonical(Chosen named) {
  named.options = attend::canonical(named.options);
  return named;
}
Chosen chosen_at(const StackOptions& options, const At& at) {
  return canonical(chosen(options.attention, options.places, at.place, at.layer));
}

/// What all attentions in blocks have in common. K = V = Q where `project` was named as false.
Chosen heads(const StackOptions& options, const At& at, int64_t memory_width, Beside beside = Beside::source) {
  Chosen named = chosen_at(options, at);
  Options& a = named.options;
  const Parts parts = attend::resolve(a);
  Reasons reasons = what_is_missing(a, parts, beside);
  if (reasons.empty() && !parts.structure->has_heads) {
    const char* instead = parts.structure->in_heads_instead;
    reasons.push_back(
        fmt::format("structure = \"{}\" has no heads, which a Transformer needs; use multi_head (kv_heads below heads "
                    "shares keys and values) or single (heads = 1){}{}",
                    a.structure, instead ? "; " : "", instead ? instead : ""));
  }
  if (reasons.empty()) reasons = what_has_no_steps(named, at);
  refuse(reasons, options, at);
  if (named.names("structure") && parts.structure == &attend::single_entry && !named.names("heads")) a.heads = 1;
  a.structure = attend::multi_head_entry.name;
  if (!named.names("project")) a.project = true;
  a.query_width = a.output_width = options.width;
  if (!named.names("width") || a.width == 0)
    a.width = options.head_width > 0 ? options.head_width * a.heads : options.width;
  a.project_bias = a.project_bias && options.bias;
  a.key_width = memory_width;
  // What is added to the rows must be as wide as they are.
  const int64_t shared = a.kv_heads > 0 ? a.kv_heads : a.heads;
  const int64_t context = a.project ? a.width : memory_width / shared * a.heads;
  if (!named.names("project_output")) a.project_output = a.project || context != options.width;
  if (a.project_output) return named;
  if (context != options.width)
    refuse({fmt::format("project_output = false leaves contexts of {} columns, which cannot be added to vectors of "
                        "{}: heads times the width of a value must be model.width",
                        context, options.width)},
           options, at);
  return named;
}

/// The rows ask about themselves. Where unprojected keys are shared by heads, a query of a head is narrower than its
/// key: two inputs that happen to be the same.
const char* own_rows(const Options& a) {
  const bool narrower = !a.project && a.kv_heads > 0 && a.kv_heads < a.heads;
  return narrower ? attend::cross_attention_entry.name : attend::self_attention_entry.name;
}

Options to_all(const StackOptions& options, const At& at) {
  const Chosen named = heads(options, at, options.width);
  const Parts parts = attend::resolve(named.options);
  Options a = at_place(named, at);
  a.input = own_rows(a);
  if (!parts.score->past_only) return a;
  if (named.names("score")) {  // it was asked for here
    a.region = with_causal(attend::resolve(a));
    a.strict = true;
  } else if (!named.names("region")) {
    a.region = without_causal(attend::resolve(a));  // it came with the score
  }
  return a;
}

Options to_the_past(const StackOptions& options, int64_t layer, Beside beside) {
  const At at{kDecoderPlace, layer, &Replacements::in_decoder};
  const Chosen named = heads(options, at, options.width, beside);
  const Parts parts = attend::resolve(named.options);
  Options a = at_place(named, at);
  a.input = own_rows(a);
  if (parts.score->past_only) a.strict = true;
  a.region = with_causal(attend::resolve(a));
  return a;
}

/// As the name of the structure alone has it, but for what was said.
Options with_preset(const Chosen& named, const Parts& parts) {
  const Entry& structure = *parts.structure;
  if (!structure.preset) return named.options;
  Options a = attend::options_of(structure.name, named.options);
  if (named.names("project")) a.project = named.options.project;
  if (named.names("project_output"))
    a.project_output = named.options.project_output;
  else if (!a.project && !named.options.project_output)
    a.project_output = false;
  return a;
}

}  // namespace

Options encoder_self_attention(const StackOptions& options, int64_t layer) {
  return to_all(options, {kEncoderPlace, layer, &Replacements::in_encoder});
}
Options parallel_self_attention(const StackOptions& options, int64_t layer) {
  return to_all(options, {kDecoderPlace, layer, &Replacements::in_encoder});
}
Options decoder_self_attention(const StackOptions& options, int64_t layer) {
  return to_the_past(options, layer, Beside::source);
}
Options text_self_attention(const StackOptions& options, int64_t layer) {
  return to_the_past(options, layer, Beside::nothing);
}

Options source_attention(const StackOptions& options, int64_t memory_width, int64_t layer) {
  const At at{kSourcePlace, layer, &Replacements::to_source};
  const Chosen named = heads(options, at, memory_width);
  Options a = at_place(named, at);
  a.input = attend::cross_attention_entry.name;
  if (!named.names("position")) a.position = Options().position;
  if (!named.names("learned_sink")) a.learned_sink = false;
  return a;
}

Options source_attention(const Chosen& chosen, int64_t query_width, int64_t memory_width) {
  const Chosen named = canonical(chosen);
  Options a = named.options;
  const Parts parts = attend::resolve(a);
  Reasons reasons = what_is_missing(a, parts);
  if (parts.score->past_only || parts.input->same_rows) {
    const Entry *looks = parts.score->past_only ? parts.score : parts.input, *instead = looks->instead.to_source;
    const std::string hint = instead ? fmt::format("; {} is {}", instead->name,
                                                   looks == parts.score ? "the same score there" : "what it has")
                                     : "";
    reasons.push_back(sentence(
        looks, fmt::format("looks at the sequence's own past, but attention in a recurrent model goes from the "
                           "decoder to the source{}{}",
                           hint, looks == parts.score ? " ([attention.decoder] is attention to the past)" : "")));
  }
  refuse(reasons);
  // As the names alone have it.
  const Entry& structure = *parts.structure;
  if (structure.preset && (!structure.only_score || a.score == Options().score)) a = with_preset(named, parts);
  a.query_width = query_width;
  a.key_width = memory_width;
  if (a.output_width == 0) a.output_width = query_width;
  if (!a.project && !named.names("project") && !attend::refusals(a).empty()) {
    Options projected = a;
    projected.project = true;
    if (projected.width == 0) projected.width = query_width;
    if (attend::refusals(projected).empty()) return projected;
    // Where there are no projections, the score itself has one: q^T W k.
    Options bilinear = a;
    bilinear.score = attend::general_entry.name;
    if (a.score == Options().score && attend::refusals(bilinear).empty()) return bilinear;
  }
  if (const Reasons wrong = attend::refusals(a); named.names("project") && !a.project && !wrong.empty())
    refuse({fmt::format("project = false leaves states as they are: {}", wrong.front())});
  return a;
}

Options states_attention(const StackOptions& options, int64_t width) {
  const At at{kEncoderPlace, 0, &Replacements::in_encoder};
  Chosen named = chosen_at(options, at);
  Parts parts = attend::resolve(named.options);
  Reasons reasons = what_is_missing(named.options, parts);
  if (!parts.structure->has_heads)
    reasons.push_back(sentence(parts.structure,
                               "does not look from each state to the others; single and multi_head "
                               "do"));
  for (std::string& reason : what_has_no_steps(named, at)) reasons.push_back(std::move(reason));
  refuse(reasons, options, at);
  named.options = at_place(named, at);
  Options a = with_preset(named, parts);
  parts = attend::resolve(a);
  if (parts.score->past_only) {
    a.region = with_causal(parts);
    a.strict = true;
  }
  a.input = own_rows(a);
  a.query_width = a.key_width = width;
  if (a.project && a.width == 0) a.width = width;
  if (a.output_width == 0) a.output_width = width;
  return a;
}

Options past_attention(const Chosen& chosen, int64_t width) {
  const Chosen named = canonical(chosen);
  Options a = named.options;
  const Parts parts = attend::resolve(a);
  a.key_width = width;
  if (parts.structure == &attend::key_value_entry) return a;
  Reasons reasons;
  const auto say = [&](const Entry* e, const char* why) { reasons.push_back(sentence(e, why)); };
  if (!parts.structure->has_heads && parts.structure != &attend::single_entry)
    say(parts.structure,
        "does not look from each state of a text at those before it; key_value, single and multi_head do");
  if (parts.input->own_queries) say(parts.input, "has its own queries; here the states ask");
  if (parts.time != &attend::dynamic_entry) say(parts.time, "is about a target that moves along a source");
  if (parts.has_region(attend::local_p_entry)) say(&attend::local_p_entry, "predicts a position in a source");
  for (const Entry* region : parts.regions)
    if (region->reads_documents) say(region, "is not needed: a recurrent model reads each document by itself");
  refuse(reasons);
  a = with_preset({a, named.named}, parts);
  a.input = attend::self_attention_entry.name;
  a.region = with_causal(parts);
  a.strict = true;
  a.query_width = a.key_width = width;
  if (a.project && a.width == 0) a.width = width;
  if (a.output_width == 0) a.output_width = width;
  return a;
}

Options past_attention_beside_source(const StackOptions& options, int64_t width) {
  const At at{kDecoderPlace, 0, &Replacements::in_decoder};
  Chosen named = chosen_at(options, at);
  const Parts parts = attend::resolve(named.options);
  Reasons reasons = what_has_no_steps(named, at);
  if (parts.structure == &attend::key_value_entry)
    reasons.push_back(sentence(parts.structure,
                               "makes the output of a language model; beside a source, single and "
                               "multi_head look back"));
  refuse(reasons, options, at);
  named.options = at_place(named, at);
  return past_attention(named, width);
}

}  // namespace heed::encode
