#include "heed/task/image/picture_model.h"

#include <cmath>
#include <functional>
#include <random>

#include "heed/base/error.h"
#include "heed/data/examples.h"
#include "heed/data/picture.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::PictureModel;

constexpr int64_t kSide = 8, kPictureWords = 9;

struct Looking {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<Looking> ways_to_look() {
  return {
      {"additive", [](Options& o) { o.attention.score = "additive"; }},
      {"scaled_dot", [](Options&) {}},
      {"lstm", [](Options& o) { o.cell = "lstm", o.attention.score = "general"; }},
      {"two_layers", [](Options& o) { o.decoder_layers = 2, o.encoder_layers = 2; }},
      {"input_feeding", [](Options& o) { o.input_feeding = true; }},
      {"question_by_a_transformer",
       [](Options& o) { o.encoder = "transformer", o.decoder = "rnn", o.activation = "gelu"; }},
      {"caption", [](Options& o) { o.questions = false; }},
      {"caption_by_a_transformer",
       [](Options& o) { o.questions = false, o.kind = "transformer", o.activation = "gelu", o.attention.heads = 2; }},
  };
}

Options options_for(const Looking& way) {
  Options o{.task = "image", .source_vocabulary = kPictureWords, .target_vocabulary = kPictureWords};
  o.width = 8;
  o.dropout = 0.0f;
  o.picture_size = kSide;
  o.picture_layers = 2;
  way.change(o);
  return o;
}

data::Examples pictures(bool questions) {
  data::Examples all(/*cells=*/4);
  std::mt19937_64 random(7);
  const std::vector<std::vector<int32_t>> asked = {{4}, {5, 3, 8}, {6, 7}}, said = {{3, 4, 8}, {5}, {7, 7}};
  for (size_t i = 0; i < asked.size(); ++i) {
    data::Picture picture(kSide, kSide);
    for (uint8_t& value : picture.rgb) value = static_cast<uint8_t>(random() % 256);
    all.source.add({.tokens = questions ? asked[i] : std::vector<int32_t>{}, .pixels = picture.rgb});
    all.target.add(said[i]);
  }
  return all;
}

data::Batch packed(bool questions, const std::vector<int64_t>& order = {0, 1, 2}) {
  return pictures(questions).pack(order);
}

class PictureModelTest : public testing::TestWithParam<Looking> {};

TEST_P(PictureModelTest, GradientsAreTheSlopesOfTheLoss) {
  const Options options = options_for(GetParam());
  Parameters parameters(1);
  const PictureModel model(parameters, options);
  const data::Batch batch = packed(options.questions);
  Tape tape;
  tape.backward(model.loss(tape, batch, {}).loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, batch, {}).negative_log_likelihood;
  });
}

TEST_P(PictureModelTest, APictureIsReadTheSameAloneAndInABatch) {
  const Options options = options_for(GetParam());
  Parameters parameters(1);
  const PictureModel model(parameters, options);
  Tape tape({.recording = false, .training = false}), other({.recording = false, .training = false});
  const data::Batch all = packed(options.questions), one = packed(options.questions, {1});
  const OutputLoss together = model.loss(tape, all, {}), alone = model.loss(other, one, {});
  ASSERT_EQ(alone.rows, 2);
  for (size_t r = 0; r < 2; ++r) EXPECT_EQ(alone.row_nll[r], together.row_nll[4 + r]);
}

// Step by step, as a search goes, with the same numbers; and the weights of the cells sum to 1.
TEST_P(PictureModelTest, StepByStepIsTheSame) {
  const Options options = options_for(GetParam());
  Parameters parameters(1);
  const PictureModel model(parameters, options);
  const data::Batch batch = packed(options.questions, {0});
  Tape tape({.recording = false, .training = false});
  const OutputLoss at_once = model.loss(tape, batch, {});
  const std::vector<float> row_nll(at_once.row_nll.begin(), at_once.row_nll.end());  // the tape is reset
  tape.reset();
  const auto state = model.start(tape, batch.sources, 5);
  for (size_t t = 0; t < batch.targets.in.size(); ++t) {
    tape.reset();
    decode::Alignment alignment;
    const int32_t token = batch.targets.in[t];
    const Tensor logits = model.step({&token, 1}, *state, tape, &alignment);
    double sum = 0;
    for (int64_t v = 0; v < kPictureWords; ++v) sum += std::exp(static_cast<double>(logits.row(0)[v]));
    EXPECT_NEAR(std::log(sum) - logits.row(0)[batch.targets.out[t]], row_nll[t], 2e-5);
    const attend::Weights& weights = alignment.layers.back();
    ASSERT_EQ(weights.keys, 4);
    EXPECT_NEAR(std::accumulate(weights.at(0, 0, 0), weights.at(0, 0, 0) + 4, 0.0), 1.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(, PictureModelTest, testing::ValuesIn(ways_to_look()),
                         [](const auto& i) { return i.param.name; });

TEST(PictureModel, TheQuestionAndEveryPixelMatter) {
  Parameters parameters(1);
  const PictureModel model(parameters, options_for(ways_to_look().front()));
  Tape tape({.recording = false, .training = false});
  const auto loss = [&](const data::Batch& batch) {
    tape.reset();
    return model.loss(tape, batch, {}).negative_log_likelihood;
  };
  data::Batch batch = packed(true, {1});
  const double before = loss(batch);
  const data::Sources sources = batch.sources;
  const auto changed = [&](std::vector<uint8_t> pixels, const std::vector<int32_t>& question) {
    batch.sources = {};
    batch.sources.add({.tokens = question, .pixels = pixels});
    return loss(batch);
  };
  const std::vector<uint8_t> pixels(sources.pixels[0].begin(), sources.pixels[0].end());
  std::vector<int32_t> question(sources.tokens[0].begin(), sources.tokens[0].end());
  for (size_t i = 0; i < pixels.size(); ++i) {
    std::vector<uint8_t> other = pixels;
    other[i] ^= 128;
    EXPECT_NE(changed(other, question), before);
  }
  EXPECT_EQ(changed(pixels, question), before);
  question[0] = 6;
  EXPECT_NE(changed(pixels, question), before);
}

TEST(PictureModel, Refusals) {
  const auto refused = [](const std::function<void(Options&)>& change) -> std::string {
    try {
      Parameters fresh(1);
      const PictureModel model(fresh, options_for({"", change}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused([](Options& o) { o.picture_size = 10; }).find("picture_size = 10 cannot be halved"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.kind = "transformer"; }).find("use rnn"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.target_vocabulary = 0; }).find("need tokens"), std::string::npos);
}

}  // namespace
}  // namespace heed::model::test
