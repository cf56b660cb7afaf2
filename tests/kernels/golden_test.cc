// Values made by another program (tests/golden/make_kernels.py: PyTorch in double, gradients by its autograd).
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/kernels/expect.h"

#ifndef HEED_TEST_DATA
#define HEED_TEST_DATA "tests/kernels"
#endif

namespace heed::kernels::test {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json json = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/kernels.json"));
  return json;
}

std::vector<double> numbers(const Json& list) {
  std::vector<double> values;
  for (const Json& value : list)
    values.push_back(value.is_string() ? (value == "inf" ? INFINITY : -INFINITY) : value.get<double>());
  return values;
}

template <class T>
T named(const std::vector<std::pair<std::string, T>>& names, const std::string& name) {
  for (const auto& [known, value] : names)
    if (known == name) return value;
  ADD_FAILURE() << "unknown name " << name;
  return names[0].second;
}

void set_score(Case& c, const Json& score) {
  const std::string kind = score.at("kind");
  c.problem.score.softcap = score.value("softcap", 0.0f);
  if (kind == "inner") c.problem.score.scale = score.at("scale");
  if (kind == "none") c.problem.score.kind = ScoreKind::none;
  if (kind == "tanh_sum") c.with_tanh_sum(score.value("per_head", false));
  if (kind == "pair_mlp")
    c.with_mlp(named<MlpActivation>({{"tanh", MlpActivation::tanh},
                                     {"relu", MlpActivation::relu},
                                     {"gelu", MlpActivation::gelu},
                                     {"silu", MlpActivation::silu}},
                                    score.at("activation")),
               score.at("widths").get<std::vector<int64_t>>());
}

void set_region(Case& c, const Json& json) {
  Region& r = c.problem.region;
  r.align =
      named<Align>({{"top_left", Align::top_left}, {"bottom_right", Align::bottom_right}, {"offset", Align::offset}},
                   json.value("align", "top_left"));
  r.query_offset = json.value("query_offset", 0);
  r.causal = json.value("causal", false);
  r.strict = json.value("strict", false);
  r.window_left = json.value("window_left", -1);
  r.window_right = json.value("window_right", -1);
  r.always_visible = json.value("always_visible", 0);
  c.key_lengths = json.value("key_lengths", std::vector<int32_t>());
  c.query_lengths = json.value("query_lengths", std::vector<int32_t>());
  c.query_documents = json.value("query_documents", std::vector<int32_t>());
  c.key_documents = json.value("key_documents", std::vector<int32_t>());
  if (json.contains("mask")) c.with_mask(MaskKind::bytes, true, false);
  if (json.contains("centre_half_width")) c.with_centre(json.at("centre_half_width"), json.value("centre_sigma", 0.0f));
}

Case from_json(const Json& json) {
  const Json& s = golden().at("shape");
  Case c({.batch = s.at("batch"),
          .heads = s.at("heads"),
          .kv_heads = s.at("kv_heads"),
          .queries = s.at("queries"),
          .keys = s.at("keys"),
          .dim = s.at("dim"),
          .value_dim = s.at("value_dim")});
  set_score(c, json.at("score"));
  set_region(c, json.at("region"));
  c.problem.normalise.kind = named<Normaliser>({{"softmax", Normaliser::softmax},
                                                {"sigmoid", Normaliser::sigmoid},
                                                {"relu", Normaliser::relu},
                                                {"identity", Normaliser::identity},
                                                {"sparsemax", Normaliser::sparsemax},
                                                {"entmax15", Normaliser::entmax15},
                                                {"argmax", Normaliser::argmax},
                                                {"sampled", Normaliser::sampled}},
                                               json.at("normalise").at("kind"));
  c.problem.normalise.divide_by_visible = json.at("normalise").at("divide_by_visible");
  const Json& bias = json.at("bias");
  const Json& inputs = json.at("inputs");
  const auto axes = [](const Json& list) { return list.get<std::vector<int>>(); };
  if (bias.contains("tensor_axes")) {
    const std::vector<int> a = axes(bias.at("tensor_axes"));
    c.with_tensor(a[0], a[1], a[2], a[3]);
  }
  if (inputs.contains("alibi_slopes")) c.with_alibi();
  if (bias.contains("relative_reach")) {
    const int64_t reach = bias.at("relative_reach");
    c.with_relative(reach, inputs.at("relative").size() > static_cast<size_t>(2 * reach + 1));
  }
  if (inputs.contains("sink")) c.with_sink();
  c.with_guide(json.value("guide_sigma", 0.0f));
  if (json.contains("guide_axes")) {
    const std::vector<int> a = axes(json.at("guide_axes"));
    c.with_guide_tensor(a[0], a[1], a[2], a[3]);
  }
  if (json.value("forced_forward", false)) c.with_forced_forward(inputs.contains("column_lse"));

  c.fill(1);  // sizes; the numbers follow
  for (auto& [name, values] : c.x.named())
    if (inputs.contains(name)) *values = numbers(inputs.at(name));
  for (size_t l = 0; l < c.x.layer_weight.size(); ++l) {
    c.x.layer_weight[l] = numbers(inputs.at("layer_weight")[l]);
    c.x.layer_bias[l] = numbers(inputs.at("layer_bias")[l]);
  }
  if (!c.mask.empty()) c.mask = json.at("region").at("mask").get<std::vector<uint8_t>>();
  if (inputs.contains("guide_tensor")) c.guide_tensor = numbers(inputs.at("guide_tensor"));
  for (auto& [name, values] : c.up.named())
    *values = json.at("upstream").contains(name) ? numbers(json.at("upstream").at(name)) : std::vector<double>();
  if (c.problem.normalise.kind == Normaliser::sampled)
    c.choice = json.at("results").at("choice").get<std::vector<int32_t>>();
  return c;
}

/// The golden numbers in the place of the truth.
void read_truth(const Json& json, Expected& expected) {
  const auto replace = [](const std::string& name, std::vector<double>& ours, const Json& theirs) {
    const std::vector<double> golden = numbers(theirs);
    ASSERT_EQ(ours.size(), golden.size()) << name;
    // Ten digits were written down.
    const double scale = std::max(largest_value(golden), 1e-3);
    EXPECT_LE(largest_error(ours, golden), 1e-9 * scale) << "reference against golden: " << name;
    ours = golden;
  };
  for (auto& [name, values] : expected.truth.named())
    if (json.at("results").contains(name)) replace(name, *values, json.at("results").at(name));
  EXPECT_EQ(expected.truth.choice, json.at("results").value("choice", std::vector<int32_t>()));
  const Json& gradients = json.at("gradients");
  for (auto& [name, values] : expected.d_truth.named())
    if (gradients.contains(name)) replace("d_" + name, *values, gradients.at(name));
  for (size_t l = 0; l < expected.d_truth.layer_weight.size(); ++l) {
    replace("d_layer_weight", expected.d_truth.layer_weight[l], gradients.at("layer_weight")[l]);
    replace("d_layer_bias", expected.d_truth.layer_bias[l], gradients.at("layer_bias")[l]);
  }
}

class Golden : public testing::TestWithParam<size_t> {};

TEST_P(Golden, ReferenceAndLibrary) {
  const Json& json = golden().at("cases")[GetParam()];
  SCOPED_TRACE(json.at("name").get<std::string>());
  Case c = from_json(json);
  Expected expected(c, true);
  read_truth(json, expected);
  // What the library draws cannot be written down beforehand: only the reference takes the drawn key as given.
  if (c.problem.normalise.kind == Normaliser::sampled) return;
  on_every_isa([&] {
    Library library(c, {}, 1);
    ASSERT_TRUE(library.forward().ok());
    ASSERT_TRUE(library.backward().ok());
    ASSERT_TRUE(library.weights().ok());
    expected.compare_results(library.results, true);
    expected.compare_gradients(library.grad);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::Range<size_t>(0, golden().at("cases").size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           std::string name = golden().at("cases")[info.param].at("name");
                           for (char& letter : name)
                             if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
                           return name;
                         });

}  // namespace
}  // namespace heed::kernels::test
