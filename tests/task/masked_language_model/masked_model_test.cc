#include "heed/task/masked_language_model/masked_model.h"

#include <cmath>

#include "heed/base/error.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::MaskedModel;

constexpr int64_t kTokens = 9;

struct MaskedKind {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<MaskedKind> masked_kinds() {
  const auto transformer = [](Options& o) {
    o.kind = "transformer", o.attention.heads = 2, o.activation = "gelu", o.encoder_layers = 2;
  };
  return {{"transformer", transformer},
          {"transformer_like_bert",
           [=](Options& o) { transformer(o), o.positions = "learned", o.max_length = 7, o.embedding_norm = true; }},
          {"transformer_pre", [=](Options& o) { transformer(o), o.norm = "pre", o.positions = "rotary"; }},
          {"transformer_plain", [=](Options& o) { transformer(o), o.transform = false; }},
          {"transformer_untied", [=](Options& o) { transformer(o), o.tied = "none"; }},
          {"transformer_additive", [=](Options& o) { transformer(o), o.attention.score = "additive"; }},
          {"gru", [](Options& o) { o.kind = "rnn", o.activation = "gelu"; }},
          {"lstm_plain", [](Options& o) { o.kind = "rnn", o.cell = "lstm", o.tied = "none", o.transform = false; }},
          {"convolution", [](Options& o) { o.kind = "convolution", o.activation = "gelu"; }}};
}

Options masked_options(const MaskedKind& kind) {
  Options o{.task = "masked_language_model", .source_vocabulary = kTokens, .target_vocabulary = kTokens};
  o.width = 8;
  o.dropout = 0.0f;
  o.tied = "all";
  kind.change(o);
  return o;
}

void add(data::Batch& batch, std::vector<int32_t> tokens, const std::vector<std::pair<int32_t, int32_t>>& asked) {
  for (const auto& [place, token] : asked) {
    batch.targets.places.push_back(place);
    batch.targets.out.push_back(token);
  }
  batch.targets.offsets.push_back(std::ssize(batch.targets.out));
  batch.sources.add(tokens);
}

/// Of 5, 1 and 3 tokens; a mask, another token, and one that stayed.
data::Batch lacking() {
  data::Batch batch;
  add(batch, {4, embed::kBlank, 6, 3, 8}, {{1, 5}, {3, 7}});
  add(batch, {embed::kBlank}, {{0, 4}});
  add(batch, {7, 3, 5}, {{2, 5}});
  return batch;
}

class MaskedModelTest : public testing::TestWithParam<MaskedKind> {};

TEST_P(MaskedModelTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const MaskedModel model(parameters, masked_options(GetParam()));
  const data::Batch batch = lacking();
  Tape tape;
  const Loss loss = model.loss(tape, batch, {});
  EXPECT_EQ(loss.rows, 4);
  tape.backward(loss.loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, batch, {}).negative_log_likelihood;
  });
}

// What is asked about is judged by the logits at its place, the same alone and in a batch.
TEST_P(MaskedModelTest, TheLossIsThatOfTheLogits) {
  Parameters parameters(1);
  const MaskedModel model(parameters, masked_options(GetParam()));
  const data::Batch batch = lacking();
  Tape tape({.recording = false, .training = false});
  const Loss loss = model.loss(tape, batch, {});
  const std::vector<float> nll(loss.row_nll.begin(), loss.row_nll.end());
  size_t row = 0;
  for (int64_t b = 0; b < batch.sources.size(); ++b)
    for (int64_t r = batch.targets.offsets[b]; r < batch.targets.offsets[b + 1]; ++r, ++row) {
      data::Sequences one;
      one.add(batch.sources.tokens[b]);
      Tape alone({.recording = false, .training = false});
      const MaskedModel::Asked asked[] = {{0, batch.targets.places[r]}};
      const Tensor logits = model.logits(alone, one, asked);
      ASSERT_EQ(logits.rows(), 1);
      ASSERT_EQ(logits.cols(), kTokens);
      double sum = 0;
      for (int64_t v = 0; v < kTokens; ++v) sum += std::exp(static_cast<double>(logits.row(0)[v]));
      EXPECT_NEAR(std::log(sum) - logits.row(0)[batch.targets.out[r]], nll[row], 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(, MaskedModelTest, testing::ValuesIn(masked_kinds()),
                         [](const auto& i) { return i.param.name; });

TEST(MaskedModel, WhatDoesNotFitIsRefused) {
  const auto refuses = [](const std::function<void(Options&)>& change, const std::string& reason) {
    Options o = masked_options({"", change});
    Parameters parameters(1);
    try {
      const MaskedModel model(parameters, o);
      ADD_FAILURE() << "not refused: " << reason;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  refuses([](Options& o) { o.target_vocabulary = 8; }, "one vocabulary is read and predicted");
  refuses([](Options& o) { o.kind = "rnn", o.transform = false; }, "set transform = true");
  Parameters parameters(1);
  const MaskedModel model(parameters, masked_options(masked_kinds().front()));
  data::Batch wrong = lacking();
  wrong.targets.places[0] = 5;
  Tape tape;
  EXPECT_THROW(model.loss(tape, wrong, {}), Error);
}

}  // namespace
}  // namespace heed::model::test
