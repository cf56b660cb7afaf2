#include "heed/view/json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "heed/base/interrupt.h"
#include "heed/view/base64.h"

namespace heed::view {

namespace {

using file::Json;

// Weights are most of a document. They are put into it last and by moving: what stands between the braces of an object
// is copied.
constexpr size_t kAtOnce = 1 << 20;  // numbers between two questions whether to go on

static_assert(std::endian::native == std::endian::little, "f32 in a document is little-endian");

Json exact(const std::vector<float>& weights) {
  std::string bytes(weights.size() * sizeof(float), '\0');
  if (!weights.empty()) std::memcpy(bytes.data(), weights.data(), bytes.size());
  Json json = Json::object({{"encoding", "f32"}});
  json["data"] = base64(bytes);
  return json;
}

/// weight = scale (byte / 255)^2: the square root keeps small weights apart, which an eye can tell from 0.
Json drawn(const std::vector<float>& weights) {
  float least = 0.0f, scale = 0.0f;
  for (const float w : weights) {
    least = std::min(least, w);
    scale = std::max(scale, w);
  }
  if (least < 0.0f || !std::isfinite(scale)) return exact(weights);
  std::string bytes;
  bytes.reserve(weights.size());
  for (const float w : weights) {
    if (bytes.size() % kAtOnce == 0) stop_if_interrupted();
    bytes += static_cast<char>(scale > 0.0f ? std::lround(255.0f * std::sqrt(w / scale)) : 0);
  }
  Json json = Json::object({{"encoding", "sqrt_u8"}, {"scale", scale}});
  json["data"] = base64(bytes);
  return json;
}

Json weights_json(const std::vector<float>& weights, Precision precision) {
  return precision == Precision::exact ? exact(weights) : drawn(weights);
}

Json map_json(const Map& map, Precision precision) {
  stop_if_interrupted();
  Json json = Json::object({{"name", map.name},
                            {"label", map.label},
                            {"group", map.group},
                            {"layer", map.layer},
                            {"queries", map.queries},
                            {"keys", map.keys},
                            {"heads", map.heads},
                            {"rows", map.rows},
                            {"cols", map.columns}});
  json["weights"] = weights_json(map.weights, precision);
  return json;
}

Json sentence_json(const Sentence& sentence) {
  Json words = Json::array();
  for (const Word& word : sentence.words)
    words.push_back(Json::object({{"text", word.text}, {"weight", word.weight}, {"space", true}}));
  return Json::object({{"weight", sentence.weight}, {"words", std::move(words)}});
}

Json beam_json(const Beam& beam, Precision precision) {
  Json nodes = Json::array();
  for (size_t i = 0; i < beam.nodes.size(); ++i) {
    const BeamNode& node = beam.nodes[i];
    Json j = Json::object({{"id", static_cast<int64_t>(i)},
                           {"parent", node.parent},
                           {"token", node.token},
                           {"score", node.score},
                           {"kept", node.kept},
                           {"final", node.finished}});
    if (node.finished || node.rank > 0) j["ranked_by"] = node.ranked_by;
    if (node.rank > 0) j["rank"] = node.rank;
    nodes.push_back(std::move(j));
  }
  Json j = Json::object({{"nodes", std::move(nodes)}});
  if (beam.keys.empty()) return j;
  j["keys"] = beam.keys;
  j["weights"] = weights_json(beam.weights, precision);
  return j;
}

Json example_json(const Example& example, Precision precision) {
  Json sequences = Json::object(), maps = Json::array();
  for (const Sequence& s : example.sequences)
    sequences[s.name] = Json::object({{"label", s.label}, {"tokens", s.tokens}});
  for (const Map& map : example.maps) maps.push_back(map_json(map, precision));
  Json j = Json::object({{"model", example.model},
                         {"input", example.input},
                         {"output", example.output},
                         {"log_probability", example.log_probability},
                         {"sequences", std::move(sequences)}});
  j["maps"] = std::move(maps);
  if (example.reference) j["reference"] = *example.reference;
  if (!example.sentences.empty()) {
    Json sentences = Json::array();
    for (const Sentence& sentence : example.sentences) sentences.push_back(sentence_json(sentence));
    j["text"] = Json::object({{"sentences", std::move(sentences)}});
  }
  if (example.picture)
    j["picture"] = Json::object({{"data", "data:image/png;base64," + base64(example.picture->png)},
                                 {"rows", example.picture->rows},
                                 {"cols", example.picture->columns}});
  if (example.beam) j["beam"] = beam_json(*example.beam, precision);
  return j;
}

}  // namespace

Json json_of(const Document& document, Precision precision) {
  Json models = Json::array(), examples = Json::array();
  for (const ModelName& m : document.models)
    models.push_back(Json::object({{"name", m.name}, {"task", m.task}, {"kind", m.kind}, {"about", m.about}}));
  for (const Example& example : document.examples) examples.push_back(example_json(example, precision));
  Json json = Json::object(
      {{"format", "heed.attention"}, {"version", 1}, {"title", document.title}, {"models", std::move(models)}});
  json["examples"] = std::move(examples);
  return json;
}

}  // namespace heed::view
