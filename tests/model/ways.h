// Models in many forms, by name.
#pragma once

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "heed/model/encode/convolution.h"
#include "tests/model/small.h"

namespace heed::model::test {

struct Way {
  std::string name;
  std::string kind;
  std::function<void(Options&)> change = [](Options&) {};

  Options options() const {
    Options o = small(kind);
    change(o);
    return o;
  }
};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

inline std::vector<Way> ways() {
  using O = Options;
  std::vector<Way> all;
  const auto add = [&](const char* kind, std::string name, std::function<void(O&)> change) {
    all.push_back({std::string(kind) + "_" + std::move(name), kind, std::move(change)});
  };
  const auto deep = [](O& o) { o.encoder_layers = o.decoder_layers = 2; };

  add("rnn", "gru", [](O&) {});
  add("rnn", "lstm", [](O& o) { o.cell = "lstm"; });
  add("rnn", "two_layers", [=](O& o) { deep(o), o.attention.score = "additive"; });
  add("rnn", "one_direction", [](O& o) { o.bidirectional = false, o.attention.score = "dot"; });
  add("rnn", "input_feeding", [](O& o) { o.input_feeding = true, o.attention.score = "general"; });
  add("rnn", "input_feeding_lstm", [=](O& o) { deep(o), o.input_feeding = true, o.cell = "lstm"; });
  add("rnn", "multi_head", [](O& o) { o.attention.structure = "multi_head"; });
  add("rnn", "local_p", [](O& o) { o.attention.region = "local_p"; });
  add("rnn", "rotary", [](O& o) { o.attention.position = "rotary"; });
  add("rnn", "feed_forward", [](O& o) { o.attention.structure = "feed_forward"; });
  for (const char* time : {"static", "forced_forward", "guided", "forward_only"}) {
    add("rnn", time, [=](O& o) { o.attention.time = time; });
    add("rnn", std::string("input_feeding_") + time, [=](O& o) { o.attention.time = time, o.input_feeding = true; });
    add("transformer", time, [=](O& o) { o.attention.time = time; });
  }

  for (const char* norm : {"post", "pre"})
    for (const char* positions : {"sinusoidal", "learned", "rotary", "alibi", "none"})
      add("transformer", std::string(norm) + "_" + positions, [=](O& o) { o.norm = norm, o.positions = positions; });
  add("transformer", "two_layers", deep);
  add("transformer", "grouped", [](O& o) { o.attention.heads = 4, o.attention.kv_heads = 2; });
  add("transformer", "grouped_rotary",
      [](O& o) { o.attention.heads = 4, o.attention.kv_heads = 1, o.positions = "rotary"; });
  add("transformer", "relative", [](O& o) { o.attention.position = "relative"; });
  add("transformer", "swiglu", [](O& o) { o.activation = "swiglu"; });
  // Attention chosen for places: model/encode/attention_places.h.
  const auto at = [](O& o, const char* place, std::set<std::string> keys) -> attend::Options& {
    o.places[place].keys.merge(keys);
    return o.places[place].to;
  };
  add("rnn", "intra_beside_source", [=](O& o) { at(o, "decoder", {"score"}).score = "intra"; });
  add("rnn", "additive_past_heads_to_source", [=](O& o) {
    o.attention.structure = "multi_head", o.attention.time = "forced_forward";
    at(o, "decoder", {"score"}).score = "additive";
  });
  add("rnn", "input_feeding_intra", [=](O& o) {
    o.input_feeding = true, o.cell = "lstm";
    at(o, "decoder", {"score"}).score = "intra";
  });
  add("rnn", "attending_encoder", [=](O& o) { at(o, "encoder", {"score"}).score = "general"; });
  add("transformer", "window_on_the_source", [=](O& o) {
    at(o, "source", {"region", "window"}).region = "local_m";
    o.places["source"].to.window = 1;
  });
  add("transformer", "strict_decoder", [=](O& o) { at(o, "decoder", {"strict"}).strict = true; });
  add("transformer", "other_scores", [=](O& o) {
    deep(o);
    at(o, "encoder", {"score"}).score = "synthesizer_random";
    at(o, "source", {"score"}).score = "additive";
    at(o, "decoder.layer.1", {"score", "normalise"}).score = "general";
    o.places["decoder.layer.1"].to.normalise = "sigmoid";
    at(o, "source.layer.0", {"heads"}).heads = 1;
  });
  add("transformer", "unprojected", [=](O& o) { at(o, "all", {"project"}).project = false; });
  add("transformer", "shared_unprojected", [=](O& o) {
    o.attention.score = "general", o.attention.kv_heads = 1;
    at(o, "all", {"project"}).project = false;
  });
  add("transformer", "heads_as_they_are", [=](O& o) { at(o, "all", {"project_output"}).project_output = false; });

  for (const char* activation : {"silu", "gelu_tanh", "gelu_sigmoid", "geglu"})
    add("transformer", activation, [=](O& o) { o.activation = activation; });
  add("transformer", "rms_norm", [](O& o) { o.norm = "pre", o.norm_kind = "rms", o.norm_epsilon = 1e-6f; });
  add("transformer", "final_norm", [](O& o) { o.final_norm = true; });
  add("transformer", "embedding_norm", [](O& o) { o.embedding_norm = true, o.scale_embeddings = false; });
  add("transformer", "no_bias", [](O& o) { o.bias = false; });
  add("transformer", "wide_heads", [](O& o) { o.attention.heads = 2, o.head_width = 3 * o.width; });
  add("transformer", "rotary_halves",
      [](O& o) { o.positions = "rotary", o.attention.rotary_halves = true, o.attention.rotary_base = 500.0f; });
  for (const char* normalise : {"sparsemax", "entmax15", "hard", "hard_sampled"})
    add("transformer", normalise, [=](O& o) { o.attention.normalise = normalise; });
  for (const char* score : {"additive", "cosine", "general", "self_scored", "intra", "synthesizer_dense",
                            "synthesizer_random", "synthesizer_mixture"})
    add("transformer", score, [=](O& o) { o.attention.score = score, o.attention.max_length = 9; });
  for (const char* score : {"synthesizer_random", "synthesizer_mixture"})
    add("transformer", std::string(score) + "_fixed",
        [=](O& o) { o.attention.score = score, o.attention.fixed_table = true, o.attention.max_length = 9; });
  for (const char* region : {"causal", "local_m", "local_p", "sliding_window", "local_m+local_p"}) {
    std::string name = region;
    if (const size_t plus = name.find('+'); plus != std::string::npos) name[plus] = '_';
    add("transformer", name, [=](O& o) { o.attention.region = region; });
  }
  add("rnn", "transformer_encoder", [](O& o) { o.encoder = "transformer"; });
  add("rnn", "transformer_encoder_lstm",
      [=](O& o) { deep(o), o.encoder = "transformer", o.cell = "lstm", o.input_feeding = true, o.norm = "pre"; });
  add("rnn", "convolution_encoder",
      [=](O& o) { deep(o), o.encoder = "convolution", o.own.of<encode::ConvolutionKeys>().kernel = 3; });
  add("transformer", "convolution_encoder",
      [](O& o) { o.encoder = "convolution", o.own.of<encode::ConvolutionKeys>().kernel = 2; });
  add("rnn", "lstmn_encoder", [](O& o) { o.encoder = "lstmn"; });
  add("rnn", "lstmn_encoder_one_direction", [=](O& o) { deep(o), o.encoder = "lstmn", o.bidirectional = false; });
  add("transformer", "lstmn_encoder_mix", [=](O& o) { deep(o), o.encoder = "lstmn", o.wiring = "mix"; });
  add("rnn", "local_h", [](O& o) { o.attention.region = "local_h", o.attention.window = 1; });
  add("rnn", "location_aware", [](O& o) { o.attention.structure = "location_aware"; });
  add("rnn", "input_feeding_location_aware",
      [](O& o) { o.attention.structure = "location_aware", o.input_feeding = true; });
  add("transformer", "not_self", [](O& o) { o.attention.region = "not_self"; });
  add("transformer", "local_h", [](O& o) { o.attention.region = "local_h", o.attention.window = 1; });
  add("transformer", "rnn_encoder", [](O& o) { o.encoder = "rnn"; });
  add("transformer", "rnn_encoder_rotary", [=](O& o) { deep(o), o.encoder = "rnn", o.positions = "rotary"; });
  for (const char* norm : {"post", "pre"})
    for (const char* wiring : {"same_block", "mix"})
      add("transformer", std::string(norm) + "_" + wiring, [=](O& o) { deep(o), o.norm = norm, o.wiring = wiring; });
  add("transformer", "mix_of_three", [](O& o) { o.wiring = "mix", o.encoder_layers = 3, o.decoder_layers = 2; });
  add("transformer", "rnn_encoder_same_block", [=](O& o) { deep(o), o.encoder = "rnn", o.wiring = "same_block"; });
  add("transformer", "convolution_encoder_mix", [=](O& o) { deep(o), o.encoder = "convolution", o.wiring = "mix"; });
  add("rnn", "mix", [=](O& o) { deep(o), o.wiring = "mix"; });
  add("rnn", "input_feeding_mix", [=](O& o) { deep(o), o.wiring = "mix", o.input_feeding = true; });
  add("transformer", "sinks", [](O& o) {
    o.attention.region = "sliding_window+sinks", o.attention.sinks = 1, o.attention.learned_sink = true;
  });
  return all;
}

inline std::string name_of_way(const testing::TestParamInfo<Way>& info) { return info.param.name; }

}  // namespace heed::model::test
