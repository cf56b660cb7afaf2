// What is tried: every entry of the catalogue by its name alone, variants of options, and parts crossed with parts.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/attend/case.h"

namespace heed::attend::test {

inline Options small_widths() {
  Options o;
  o.query_width = 8;
  o.key_width = 8;
  o.hidden = 5;
  o.max_length = 9;
  o.window = 2;
  o.reach = 3;
  o.queries = 2;
  return o;
}

/// The cheapest widths that still tell everything apart.
inline Options base_for(const std::string& name) {
  Options o = small_widths();
  if (name == "general" || name == "additive" || name == "mlp" || name == "projected" || name == "self_scored")
    o.query_width = 6;
  if (name == "key_value_mode") o.value_width = 5;
  if (name == "location_aware") o.filters = 2, o.filter_reach = 1;
  if (name == "key_value") o.key_width = o.query_width = 6;
  if (name == "hierarchical") o.hidden = 3, o.key_width = 4, o.query_width = 0;
  if (name == "static") o.query_width = 2 * o.key_width;
  return o;
}

/// Inputs that fit the options.
inline Case case_of(const std::string& name, const Options& options) {
  Case c{name, options};
  if (has_region(options, "masked")) c.mask = c.lengths = true;
  if (options.structure == "hierarchical") c.key_lengths = {3, 1, 5, 7};
  if (options.input == "learned_query" || options.time == "static")
    c.mask = false;  // their queries are not the caller's
  return c;
}

inline Case entry_case(const std::string& name) { return case_of(name, options_of(name, base_for(name))); }

inline std::vector<Case> entry_cases() {
  std::vector<Case> cases;
  for (const Entry* entry : all()) cases.push_back(entry_case(entry->name));
  return cases;
}

/// One entry with some options changed.
template <class Change>
Case variant(const std::string& entry, const std::string& what, const Change& change) {
  Case c = entry_case(entry);
  c.name = entry + "_" + what;
  change(c);
  return c;
}

inline std::vector<Case> score_variants() {
  return {
      variant("cosine", "temperature", [](Case& c) { c.options.temperature = 3.0f; }),
      variant("cosine", "learned_temperature", [](Case& c) { c.options.learned_temperature = true; }),
      variant("mlp", "depth_2_relu", [](Case& c) { c.options.depth = 2, c.options.activation = "relu"; }),
      variant("mlp", "depth_3_gelu", [](Case& c) { c.options.depth = 3, c.options.activation = "gelu"; }),
      variant("mlp", "depth_2_tanh", [](Case& c) { c.options.depth = 2; }),
      variant("mlp", "depth_2_silu", [](Case& c) { c.options.depth = 2, c.options.activation = "silu"; }),
      variant("mlp", "depth_1_gelu", [](Case& c) { c.options.activation = "gelu"; }),
      variant("additive", "hidden_of_the_key", [](Case& c) { c.options.hidden = 0; }),
      variant("projected", "softcap_sigmoid",
              [](Case& c) { c.options.softcap = 0.8f, c.options.normalise = "sigmoid"; }),
      variant("projected", "shared", [](Case& c) { c.options.query_width = 8, c.options.shared_projection = true; }),
      variant("self_scored", "linear", [](Case& c) { c.options.form = "linear"; }),
      variant("synthesizer_random", "fixed", [](Case& c) { c.options.fixed_table = true; }),
      variant("synthesizer_random", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("synthesizer_dense", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("synthesizer_mixture", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("synthesizer_mixture", "projected", [](Case& c) { c.options.project = true; }),
      variant("scaled_dot", "softcap", [](Case& c) { c.options.softcap = 1.5f; }),
      variant("additive", "softcap", [](Case& c) { c.options.softcap = 0.5f; }),
      variant("dot", "alibi", [](Case& c) { c.options.position = "alibi", c.options.heads = 2; }),
      variant("dot", "relative", [](Case& c) { c.options.position = "relative", c.options.heads = 2; }),
      variant("general", "relative", [](Case& c) { c.options.position = "relative"; }),
      variant("synthesizer_random", "relative", [](Case& c) { c.options.position = "relative"; }),
      variant("scaled_dot", "bias", [](Case& c) { c.bias = true; }),
      variant("additive", "bias_heads", [](Case& c) { c.options.query_width = 8, c.options.heads = 2, c.bias = true; }),
      variant("projected", "bias", [](Case& c) { c.bias = true; }),
      variant("synthesizer_dense", "bias", [](Case& c) { c.bias = true; }),
      variant("synthesizer_random", "bias_heads", [](Case& c) { c.options.heads = 2, c.bias = true; }),
      variant("synthesizer_mixture", "bias_alibi", [](Case& c) { c.options.position = "alibi", c.bias = true; }),
  };
}

inline std::vector<Case> rotary_variants() {
  const auto rotary = [](const std::string& entry, const std::string& what, auto&& change) {
    return variant(entry, what, [&](Case& c) { c.options.position = "rotary", change(c); });
  };
  const auto heads = [](Case& c) { c.options.heads = 2; };
  const auto even = [](Case& c) { c.options.hidden = 6; };  // projected: hidden is the width of q' and k'
  return {
      rotary("dot", "rotary", [](Case&) {}),
      rotary("scaled_dot", "rotary_heads", heads),
      rotary("scaled_dot", "rotary_softcap", [](Case& c) { c.options.softcap = 1.5f; }),
      rotary("cosine", "rotary_learned_temperature", [](Case& c) { c.options.learned_temperature = true; }),
      rotary("general", "rotary", [](Case&) {}),
      rotary("projected", "rotary", even),
      rotary("projected", "rotary_softcap", [&](Case& c) { even(c), c.options.softcap = 0.8f; }),
      rotary("intra", "rotary", [](Case&) {}),
      rotary("synthesizer_mixture", "rotary", heads),
      rotary("external", "rotary_grouped",
             [](Case& c) { c.options.heads = 4, c.options.kv_heads = 2, c.options.key_width = 4; }),
      rotary("multi_head", "rotary_grouped", [](Case& c) { c.options.kv_heads = 2; }),
      rotary("multi_head", "rotary_one_shared", [](Case& c) { c.options.kv_heads = 1; }),
      rotary("sparsemax", "rotary", heads),
      rotary("causal", "rotary", heads),
      rotary("sliding_window", "rotary", heads),
      rotary("forward_only", "rotary", heads),
      rotary("forced_forward", "rotary", heads),
      rotary("dot", "rotary_empty_sequences",
             [](Case& c) {
               c.key_lengths = {4, 0, 1, 5}, c.query_lengths = {2, 3, 0, 4};
             }),
  };
}

inline std::vector<Case> normaliser_and_region_variants() {
  return {
      variant("relu", "divided", [](Case& c) { c.options.divide_by_visible = true; }),
      variant("sigmoid", "divided", [](Case& c) { c.options.divide_by_visible = true, c.options.region = "causal"; }),
      variant("identity", "divided", [](Case& c) { c.options.divide_by_visible = true, c.options.region = "local_m"; }),
      variant("hard_sampled", "five_samples", [](Case& c) { c.options.samples = 5; }),
      variant("hard_sampled", "heads", [](Case& c) { c.options.samples = 2, c.options.heads = 2; }),
      variant("local_p", "sigma", [](Case& c) { c.options.sigma = 0.8f; }),
      variant("local_p", "wide", [](Case& c) { c.options.window = 20; }),
      variant("local_p", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("local_p", "projected", [](Case& c) { c.options.heads = 2, c.options.project = true; }),
      variant("local_p", "lengths", [](Case& c) { c.lengths = true; }),
      variant("local_p", "over_all", [](Case& c) { c.options.over_all = true; }),
      variant("local_p", "over_all_narrow",
              [](Case& c) { c.options.over_all = true, c.options.window = 1, c.options.heads = 2; }),
      variant("local_p", "over_all_guided", [](Case& c) { c.options.over_all = true, c.options.time = "guided"; }),
      variant("local_h", "only_the_best", [](Case& c) { c.options.window = 0; }),
      variant("local_h", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("local_h", "gaussian", [](Case& c) { c.options.sigma = 0.8f; }),
      variant("local_h", "straight_through",
              [](Case& c) { c.options.sigma = 0.8f, c.options.straight_through = true; }),
      variant("local_h", "straight_through_heads",
              [](Case& c) { c.options.sigma = 0.8f, c.options.straight_through = true, c.options.heads = 2; }),
      variant("local_h", "additive", [](Case& c) { c.options.score = "additive"; }),
      variant("local_h", "softcap_bias", [](Case& c) { c.options.softcap = 0.6f, c.bias = true; }),
      variant("local_h", "causal", [](Case& c) { c.options.region = "causal+local_h", c.options.heads = 2; }),
      variant("local_h", "lengths", [](Case& c) { c.lengths = true; }),
      variant("local_h", "empty_sequences",
              [](Case& c) {
                c.options.sigma = 0.8f;
                c.key_lengths = {4, 0, 1, 5}, c.query_lengths = {2, 3, 0, 4};
              }),
      variant("not_self", "causal", [](Case& c) { c.options.region = "causal+not_self"; }),
      variant("not_self", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("not_self", "self_attention", [](Case& c) { c.options.input = "self_attention"; }),
      variant("not_self", "sinks",
              [](Case& c) { c.options.region = "not_self+sliding_window+sinks", c.options.sinks = 2; }),
      variant("not_self", "longer", [](Case& c) { c.key_lengths = {41}, c.query_lengths = {37}; }),
      variant("causal", "strict", [](Case& c) { c.options.strict = true; }),
      variant("sliding_window", "inside_local_m", [](Case& c) { c.options.region = "sliding_window+local_m"; }),
      variant("causal", "window", [](Case& c) { c.options.region = "causal+local_m"; }),
      variant("causal", "documents", [](Case& c) { c.options.region = "causal+documents"; }),
      variant("documents", "sinks", [](Case& c) { c.options.region = "documents+sinks", c.options.sinks = 1; }),
      variant("sinks", "learned", [](Case& c) { c.options.learned_sink = true; }),
      variant("sinks", "learned_heads", [](Case& c) { c.options.learned_sink = true, c.options.heads = 2; }),
      variant("sinks", "one", [](Case& c) { c.options.sinks = 1, c.options.window = 1; }),
      variant("masked", "mask_only", [](Case& c) { c.lengths = false; }),
      variant("masked", "lengths_only", [](Case& c) { c.mask = false; }),
      variant("masked", "causal_heads", [](Case& c) { c.options.region = "masked+causal", c.options.heads = 2; }),
      variant("global", "empty_sequences",
              [](Case& c) {
                c.key_lengths = {4, 0, 1, 5}, c.query_lengths = {2, 3, 0, 4};
              }),
      variant("global", "one_pair", [](Case& c) { c.key_lengths = {1}, c.query_lengths = {1}; }),
      variant("global", "longer", [](Case& c) { c.key_lengths = {21}, c.query_lengths = {11}; }),
  };
}

inline std::vector<Case> time_and_structure_variants() {
  return {
      variant("static", "no_rows", [](Case& c) { c.query_rows = false; }),
      variant("static", "additive", [](Case& c) { c.options.score = "additive"; }),
      variant("static", "projected",
              [](Case& c) {
                c.options.project = true;
                c.options.score = "scaled_dot";
                c.options.heads = 2;
                c.options.width = 8;
              }),
      variant("static", "lengths", [](Case& c) { c.options.score = "additive", c.lengths = true; }),
      variant("forced_forward", "causal", [](Case& c) { c.options.region = "causal"; }),
      variant("forced_forward", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("forced_forward", "mask", [](Case& c) { c.options.region = "masked", c.mask = true; }),
      variant("guided", "narrow", [](Case& c) { c.options.guide_sigma = 0.05f; }),
      variant("guided", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("guided", "lengths", [](Case& c) { c.lengths = true; }),
      variant("guided", "sampled", [](Case& c) { c.options.normalise = "hard_sampled", c.options.samples = 2; }),
      variant("forward_only", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("forward_only", "identity", [](Case& c) { c.options.normalise = "identity"; }),
      variant("forward_only", "additive", [](Case& c) { c.options.score = "additive"; }),
      variant("external", "heads", [](Case& c) { c.options.heads = 4; }),
      variant("external", "grouped",
              [](Case& c) { c.options.heads = 4, c.options.kv_heads = 2, c.options.key_width = 4; }),
      variant("additive", "grouped",
              [](Case& c) {
                c.options.query_width = 8, c.options.heads = 4, c.options.kv_heads = 1, c.options.key_width = 3;
              }),
      variant("cross_attention", "grouped", [](Case& c) { c.options.heads = 4, c.options.kv_heads = 2; }),
      variant("cross_attention", "width", [](Case& c) { c.options.width = 4, c.options.key_width = 5; }),
      variant("multi_head", "values_and_widths",
              [](Case& c) { c.options.value_width = 3, c.options.width = 12, c.options.output_width = 5; }),
      variant("multi_head", "one_shared", [](Case& c) { c.options.kv_heads = 1; }),
      variant("multi_head", "self_causal",
              [](Case& c) { c.options.input = "self_attention", c.options.region = "causal"; }),
      variant("self_attention", "causal", [](Case& c) { c.options.region = "causal"; }),
      variant("self_attention", "values", [](Case& c) { c.options.value_width = 5; }),
      variant("key_value_mode", "additive", [](Case& c) { c.options.score = "additive"; }),
      variant("learned_query", "additive", [](Case& c) { c.options.score = "additive", c.options.queries = 3; }),
      variant("learned_query", "heads", [](Case& c) { c.options.heads = 2; }),
      variant("learned_query", "lengths", [](Case& c) { c.lengths = true; }),
      variant("structured", "one_query", [](Case& c) { c.options.queries = 1; }),
      variant("structured", "values", [](Case& c) { c.options.value_width = 3; }),
      variant("structured", "lengths", [](Case& c) { c.lengths = true; }),
      variant("feed_forward", "lengths", [](Case& c) { c.lengths = true; }),
      variant("key_value", "predict", [](Case& c) { c.options.predict = 1; }),
      variant("key_value", "whole_past", [](Case& c) { c.options.window = 20; }),
      variant("hierarchical_query", "additive",
              [](Case& c) { c.options.score = "additive", c.options.query_width = 5; }),
      variant("hierarchical_query", "values", [](Case& c) { c.options.score = "additive", c.options.value_width = 5; }),
      variant("hierarchical_query", "sparse", [](Case& c) { c.options.normalise = "entmax15"; }),
      variant("hierarchical_query", "lengths", [](Case& c) { c.lengths = true; }),
      variant("hierarchical_query", "empty_sequences",
              [](Case& c) {
                c.key_lengths = {4, 0, 1, 5}, c.query_lengths = {2, 3, 0, 4};
              }),
      variant("location_aware", "values", [](Case& c) { c.options.value_width = 3, c.options.query_width = 5; }),
      variant("location_aware", "wide", [](Case& c) { c.options.filter_reach = 9, c.options.filters = 1; }),
      variant("location_aware", "bias", [](Case& c) { c.bias = true; }),
      variant("location_aware", "lengths", [](Case& c) { c.lengths = true; }),
      variant("location_aware", "mask", [](Case& c) { c.options.region = "masked", c.mask = true; }),
      variant("location_aware", "guided", [](Case& c) { c.options.time = "guided"; }),
      variant("location_aware", "sigmoid", [](Case& c) { c.options.normalise = "sigmoid"; }),
      variant("location_aware", "local_h", [](Case& c) { c.options.region = "local_h"; }),
      variant("location_aware", "empty_sequences",
              [](Case& c) {
                c.key_lengths = {4, 0, 1, 5}, c.query_lengths = {2, 3, 0, 4};
              }),
      variant("hierarchical", "classes", [](Case& c) { c.options.classes = 3; }),
  };
}

inline std::vector<Case> variant_cases() {
  std::vector<Case> cases;
  for (const auto& part :
       {score_variants(), rotary_variants(), normaliser_and_region_variants(), time_and_structure_variants()})
    cases.insert(cases.end(), part.begin(), part.end());
  return cases;
}

// ------------------------------------------------------------------------------------------------ parts with parts

inline std::vector<std::string> names_of(Part part) {
  std::vector<std::string> names;
  for (const Entry* entry : all())
    if (entry->part == part) names.push_back(entry->name);
  return names;
}

/// Four words, one of each part.
struct Words {
  std::string score = "scaled_dot", normalise = "softmax", region = "global", time = "dynamic";
};

inline Options options_of_words(const Words& w) {
  Options o = small_widths();
  o.key_width = 4;
  o.query_width = w.time == "static" ? 8 : 4;
  o.score = w.score;
  o.normalise = w.normalise;
  o.region = w.region;
  o.time = w.time;
  o.hidden = 3;
  if (w.region == "sinks") o.region = "sliding_window+sinks", o.sinks = 1, o.window = 1;
  if (w.score == "intra") {
    o.input = "self_attention";
    o.region = w.region == "causal" || w.region == "global" ? "causal" : "causal+" + o.region;
    o.strict = true;
  }
  return o;
}

inline Case words_case(const Words& w) {
  Case c = case_of(w.score + "_" + w.normalise + "_" + w.region + "_" + w.time, options_of_words(w));
  c.key_lengths = {1, 5, 4};
  c.query_lengths = {2, 3, 5};
  return c;
}

/// Each score with each normaliser, each score with each region, each region with each normaliser, each time with each
/// score, region and normaliser. Refused ones are left out: refusal_test.cc says which those may be.
inline std::vector<Case> crossed_cases() {
  std::vector<Case> cases;
  std::set<std::string> seen;
  const auto add = [&](const Words& w) {
    const Case c = words_case(w);
    if (seen.insert(c.name).second && refusals(c.options).empty()) cases.push_back(c);
  };
  for (const std::string& score : names_of(Part::score)) {
    for (const std::string& normalise : names_of(Part::normalise)) add({.score = score, .normalise = normalise});
    for (const std::string& region : names_of(Part::region)) add({.score = score, .region = region});
    for (const std::string& time : names_of(Part::time)) add({.score = score, .time = time});
  }
  for (const std::string& region : names_of(Part::region)) {
    for (const std::string& normalise : names_of(Part::normalise)) add({.normalise = normalise, .region = region});
    for (const std::string& time : names_of(Part::time)) add({.region = region, .time = time});
  }
  for (const std::string& normalise : names_of(Part::normalise))
    for (const std::string& time : names_of(Part::time)) add({.normalise = normalise, .time = time});
  return cases;
}

inline void PrintTo(const Case& c, std::ostream* to) { *to << c.name; }
inline std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

}  // namespace heed::attend::test
