#include "heed/task/vectors/vector_model.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/model/encode/shared_layers.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::VectorModel;

constexpr int64_t kTokensOfVectors = 9;

struct VectorKind {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<VectorKind> vector_kinds() {
  const auto transformer = [](Options& o) {
    o.kind = "transformer", o.attention.heads = 2, o.activation = "gelu", o.encoder_layers = 2;
  };
  return {{"gru_mean", [](Options&) {}},
          {"gru_max_not_unit", [](Options& o) { o.pool = "max", o.unit = false; }},
          {"transformer_first_layer", [=](Options& o) { transformer(o), o.pool = "first", o.pool_layer = "tanh"; }},
          {"transformer_widened",
           [=](Options& o) {
             transformer(o), o.embedding_width = 6, o.positions = "learned", o.max_length = 7, o.embedding_norm = true;
           }},
          {"transformer_shared", [=](Options& o) { transformer(o), encode::set_shared_layers(o.own, true); }}};
}

Options vector_options(const VectorKind& kind) {
  Options o{.task = "vectors", .source_vocabulary = kTokensOfVectors, .target_vocabulary = kTokensOfVectors};
  o.width = 8;
  o.dropout = 0.0f;
  o.pool = "mean";
  o.sharpness = 3.0f;
  kind.change(o);
  return o;
}

data::Batch couples() {
  data::Batch batch;
  const std::vector<std::vector<int32_t>> first = {{4, 5, 6, 3, 8}, {7}, {7, 3, 5}}, second = {{4, 6}, {3, 3, 8}, {5}};
  for (size_t i = 0; i < first.size(); ++i) batch.sources.add({.tokens = first[i], .second = second[i]});
  return batch;
}

class VectorModelTest : public testing::TestWithParam<VectorKind> {};

TEST_P(VectorModelTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const VectorModel model(parameters, vector_options(GetParam()));
  const data::Batch batch = couples();
  Tape tape;
  const Loss loss = model.loss(tape, batch, {});
  EXPECT_EQ(loss.rows, 3);
  tape.backward(loss.loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, batch, {}).negative_log_likelihood;
  });
}

// In double precision, from the vectors of each text alone.
TEST_P(VectorModelTest, TheLossTellsTheOwnSecondTextFromTheOthers) {
  Parameters parameters(1);
  const Options o = vector_options(GetParam());
  const VectorModel model(parameters, o);
  const data::Batch batch = couples();
  const auto of = [&](std::span<const int32_t> ids) {
    Tape tape({.recording = false, .training = false});
    data::Sequences one;
    one.add(ids);
    const Tensor x = model.vectors(tape, one);
    return std::vector<double>(x.row(0), x.row(0) + x.cols());
  };
  double wanted = 0;
  for (int64_t i = 0; i < batch.sources.size(); ++i) {
    const std::vector<double> a = of(batch.sources.tokens[i]);
    double length = 0, sum = 0, own = 0;
    for (const double x : a) length += x * x;
    if (o.unit) {
      EXPECT_NEAR(length, 1.0, 1e-6);
    }
    for (int64_t j = 0; j < batch.sources.size(); ++j) {
      const std::vector<double> b = of(batch.sources.second[j]);
      double product = 0;
      for (size_t c = 0; c < a.size(); ++c) product += a[c] * b[c];
      product *= o.unit ? double{o.sharpness} : 1.0;
      sum += std::exp(product);
      if (i == j) own = product;
    }
    wanted += std::log(sum) - own;
  }
  Tape tape({.recording = false, .training = false});
  EXPECT_NEAR(model.loss(tape, batch, {}).negative_log_likelihood, wanted, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, VectorModelTest, testing::ValuesIn(vector_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(VectorModelOptions, AttentionDoesNotPool) {
  Parameters parameters(1);
  Options o = vector_options({"", [](Options&) {}});
  o.pool = "attention";
  EXPECT_THROW(VectorModel(parameters, o), Error);
}

// Layers that share their weights have those of one, and each looks again.
TEST(VectorModelOptions, SharedLayersHaveTheWeightsOfOne) {
  Parameters shared(1), others(1);
  const VectorModel one(shared, vector_options(vector_kinds()[4])), two(others, vector_options(vector_kinds()[2]));
  EXPECT_TRUE(shared.find("encoder.0.self.query.weight"));
  EXPECT_FALSE(shared.find("encoder.1.self.query.weight"));
  EXPECT_TRUE(others.find("encoder.1.self.query.weight"));
}

}  // namespace
}  // namespace heed::model::test
