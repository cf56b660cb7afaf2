#include "heed/encode/attention_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "heed/attend/all.h"
#include "heed/attend/region_words.h"
#include "heed/tensor/error.h"

namespace heed::encode {

namespace {

using attend::Options;
using Reasons = std::vector<std::string>;

void refuse(const Reasons& reasons) { expect(reasons.empty(), "model: {}", fmt::join(reasons, "\nmodel: ")); }

/// The regions, with or without one of them; "global" where none is left.
std::string regions_without(const Options& o, std::string_view left_out) {
  std::vector<std::string> kept;
  for (const std::string& word : attend::region_words(o.region))
    if (word != left_out && word != "global") kept.push_back(word);
  return kept.empty() ? "global" : fmt::format("{}", fmt::join(kept, "+"));
}
bool has_region(const Options& o, std::string_view name) {
  const auto words = attend::region_words(o.region);
  return std::find(words.begin(), words.end(), name) != words.end();
}

/// What asks for something that pairs of sequences do not have.
Reasons what_is_missing(const Options& o) {
  Reasons reasons;
  if (o.structure == "hierarchical")
    reasons.emplace_back(
        "structure = \"hierarchical\" needs documents made of sentences, and a source is one sequence of tokens");
  if (o.structure == "structured")
    reasons.emplace_back(
        "structure = \"structured\" makes a few vectors of a whole sequence by questions of its own; it has no place "
        "for "
        "the query of a decoder's step");
  if (o.structure == "key_value")
    reasons.emplace_back(
        "structure = \"key_value\" looks from each state of a language model at the states before it; between a "
        "decoder "
        "and a source there are two sequences");
  if (o.input == "learned_query")
    reasons.emplace_back("input = \"learned_query\" leaves no place for the query of a decoder's step");
  if (o.value_width != 0)
    reasons.push_back(
        fmt::format("value_width = {} needs values beside the keys, and an encoder gives one vector per token that is "
                    "both (plain mode, value_width = 0)",
                    o.value_width));
  if (has_region(o, "documents"))
    reasons.emplace_back("region = \"documents\" needs the document of every token, and a pair of sequences has one");
  return reasons;
}

/// What all attentions of a Transformer have in common.
Options heads(const TransformerOptions& options, int64_t memory_width) {
  Options a = attend::canonical(options.attention);
  Reasons reasons = what_is_missing(a);
  if (reasons.empty() && a.structure != "single" && a.structure != "multi_head")
    reasons.push_back(fmt::format(
        "structure = \"{}\" has no heads, and a Transformer is made of them; possible are multi_head, with "
        "kv_heads below heads where heads share keys and values, and single (heads = 1){}",
        a.structure, a.structure == "feed_forward" ? "; score = \"self_scored\" weighs keys in its way" : ""));
  refuse(reasons);
  a.structure = "multi_head";
  a.project = a.project_output = true;
  a.query_width = a.width = a.output_width = options.width;
  a.key_width = memory_width;
  return a;
}

Options self_attention(const TransformerOptions& options) {
  Options a = heads(options, options.width);
  a.input = "self_attention";
  a.time = "dynamic";
  a.region = regions_without(a, "local_p");
  if (a.normalise == "hard_sampled") a.normalise = "softmax";
  return a;
}

}  // namespace

Options encoder_self_attention(const TransformerOptions& options) {
  Options a = self_attention(options);
  if (a.score == "intra") {
    a.score = "general";
    a.region = regions_without(a, "causal");
  }
  return a;
}

Options decoder_self_attention(const TransformerOptions& options) {
  Options a = self_attention(options);
  if (a.score == "intra") a.strict = true;
  const std::string others = regions_without(a, "causal");
  a.region = others == "global" ? "causal" : "causal+" + others;
  return a;
}

Options source_attention(const TransformerOptions& options, int64_t memory_width) {
  Options a = heads(options, memory_width);
  a.input = "cross_attention";
  a.position = "none";
  a.region = has_region(a, "local_p") ? "local_p" : "global";
  a.learned_sink = false;
  if (a.score == "intra") a.score = "general";
  if (a.score.starts_with("synthesizer")) a.score = "scaled_dot";
  return a;
}

Options source_attention(const Options& named, int64_t query_width, int64_t memory_width) {
  Options a = attend::canonical(named);
  Reasons reasons = what_is_missing(a);
  if (a.score == "intra" || a.input == "self_attention")
    reasons.push_back(fmt::format(
        "{} looks at the sequence's own past, and the attention of a recurrent model goes from the decoder to "
        "the source; {}",
        a.score == "intra" ? "score = \"intra\"" : "input = \"self_attention\"",
        a.score == "intra" ? "general is the same score there" : "cross_attention is what it has"));
  refuse(reasons);
  // As the names alone have it.
  if (a.structure == "multi_head") a = attend::options_of("multi_head", a);
  if (a.structure == "feed_forward" && a.score == Options().score) a = attend::options_of("feed_forward", a);
  a.query_width = query_width;
  a.key_width = memory_width;
  if (a.output_width == 0) a.output_width = query_width;
  if (!a.project && !attend::refusals(a).empty()) {
    Options projected = a;
    projected.project = true;
    if (projected.width == 0) projected.width = query_width;
    if (attend::refusals(projected).empty()) return projected;
  }
  return a;
}

}  // namespace heed::encode
