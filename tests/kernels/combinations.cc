#include "tests/kernels/combinations.h"

#include <algorithm>

#include <string>
#include <utility>
#include <vector>

namespace heed::kernels::test {

std::vector<Part> all_scores() {
  std::vector<Part> parts = {
      {"inner", [](Case&) {}},
      {"inner_softcap", [](Case& c) { c.problem.score.softcap = 1.5f; }},
      {"tanh_sum", [](Case& c) { c.with_tanh_sum(); }},
      {"tanh_sum_per_head", [](Case& c) { c.with_tanh_sum(true); }},
      {"none", [](Case& c) { c.problem.score.kind = ScoreKind::none, c.with_tensor(true, true, true, true); }},
      {"custom", [](Case& c) { c.with_custom_score(); }},
  };
  const std::vector<std::pair<std::string, MlpActivation>> activations = {{"tanh", MlpActivation::tanh},
                                                                          {"relu", MlpActivation::relu},
                                                                          {"gelu", MlpActivation::gelu},
                                                                          {"silu", MlpActivation::silu}};
  const std::vector<std::vector<int64_t>> depths = {{}, {7}, {5, 9}};
  for (const auto& [name, activation] : activations)
    for (const auto& widths : depths)
      parts.push_back({"mlp" + std::to_string(widths.size() + 1) + "_" + name,
                       [a = activation, widths](Case& c) { c.with_mlp(a, widths); }});
  return parts;
}

namespace {

Part normaliser(const std::string& name, Normaliser kind, bool divide = false) {
  return {name, [=](Case& c) {
            c.problem.normalise.kind = kind;
            c.problem.normalise.divide_by_visible = divide;
            c.problem.normalise.seed = 7;
          }};
}

}  // namespace

std::vector<Part> all_normalisers() {
  return {normaliser("softmax", Normaliser::softmax),
          {"forced_forward", [](Case& c) { c.with_forced_forward(); }},
          {"forced_forward_state", [](Case& c) { c.with_forced_forward(true); }},
          normaliser("sigmoid", Normaliser::sigmoid),
          normaliser("sigmoid_mean", Normaliser::sigmoid, true),
          normaliser("relu", Normaliser::relu),
          normaliser("relu_mean", Normaliser::relu, true),
          normaliser("identity", Normaliser::identity),
          normaliser("identity_mean", Normaliser::identity, true),
          normaliser("sparsemax", Normaliser::sparsemax),
          normaliser("entmax15", Normaliser::entmax15),
          normaliser("argmax", Normaliser::argmax),
          normaliser("sampled", Normaliser::sampled)};
}

std::vector<Part> all_regions() {
  const auto region = [](auto change) { return [=](Case& c) { change(c.problem.region); }; };
  return {
      {"global", [](Case&) {}},
      {"lengths",
       [](Case& c) {
         const auto tk = static_cast<int32_t>(c.shape().keys), tq = static_cast<int32_t>(c.shape().queries);
         c.with_key_lengths({tk - 2, tk}).with_query_lengths({tq, tq - 2}).with_guide(0.3f);
       }},
      {"causal", region([](Region& r) { r.causal = true; })},
      {"causal_strict", region([](Region& r) { r.causal = true, r.strict = true; })},
      {"causal_bottom_right",
       [](Case& c) {
         c.problem.region.causal = true;
         c.problem.region.align = Align::bottom_right;
         c.with_guide(0.3f);
       }},
      {"causal_offset", region([](Region& r) { r.causal = true, r.align = Align::offset, r.query_offset = 2; })},
      {"causal_before", region([](Region& r) { r.causal = true, r.align = Align::offset, r.query_offset = -2; })},
      {"window", region([](Region& r) { r.window_left = 3, r.window_right = 1; })},
      {"window_sinks",
       [](Case& c) {
         Region& r = c.problem.region;
         r.causal = true, r.align = Align::bottom_right, r.window_left = 2, r.always_visible = 2;
         c.with_guide(0.2f);
       }},
      {"documents", [](Case& c) { c.with_documents(3); }},
      {"documents_sinks_causal",
       [](Case& c) {
         c.problem.region.causal = true;
         c.problem.region.align = Align::bottom_right;
         c.problem.region.always_visible = 1;
         c.with_documents(2).with_guide_tensor(false, true, true, true);
       }},
      {"mask_bytes", [](Case& c) { c.with_mask(MaskKind::bytes, true, false); }},
      {"mask_bits",
       [](Case& c) { c.with_mask(MaskKind::bits, true, true).with_guide_tensor(true, false, true, true); }},
      {"centre", [](Case& c) { c.with_centre(4.3f, 0.0f); }},
      {"centre_gaussian", [](Case& c) { c.with_centre(5.2f, 2.1f).with_guide(0.4f); }},
      {"not_self", [](Case& c) { c.problem.region.not_self = true; }},
      {"not_self_window_sinks",
       [](Case& c) {
         c.problem.region.not_self = c.problem.region.causal = true;
         c.problem.region.window_left = 3, c.problem.region.always_visible = 2;
       }},
      {"centre_picks", [](Case& c) { c.with_centre(4.3f, 2.1f).problem.region.centre_picks = true; }},
      {"centre_picks_evenly", [](Case& c) { c.with_centre(4.3f, 0.0f).problem.region.centre_picks = true; }},
      {"centre_window_sinks",  // the centre hides first keys that the window may not
       [](Case& c) {
         Region& r = c.problem.region;
         r.window_left = 1, r.always_visible = 4;
         c.with_centre(4.3f, 0.0f);
       }},
      {"custom_region", [](Case& c) { c.with_custom_region(); }},
  };
}

std::vector<Part> only(const std::vector<Part>& parts, const std::vector<std::string>& names) {
  std::vector<Part> chosen;
  for (const Part& part : parts)
    if (std::find(names.begin(), names.end(), part.name) != names.end()) chosen.push_back(part);
  return chosen;
}

Case combine(const Shape& shape, const Combination& combination) {
  Case c(shape);
  std::get<0>(combination).apply(c);
  std::get<1>(combination).apply(c);
  std::get<2>(combination).apply(c);
  return c;
}

}  // namespace heed::kernels::test
