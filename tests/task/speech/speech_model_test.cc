#include "heed/task/speech/speech_model.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "heed/base/error.h"
#include "heed/data/examples.h"
#include "heed/task/speech/frame_changes.h"
#include "heed/task/speech/word_times.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::changed_frames;
using task::SpeechModel;
using task::SpeechOptions;

constexpr int64_t kBands = 6, kSpoken = 9;

struct Hearing {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<Hearing> ways_to_hear() {
  return {
      {"additive", [](Options& o) { o.attention.score = "additive"; }},
      {"lstm_one_layer",
       [](Options& o) {
         o.cell = "lstm", o.attention.score = "general";
         o.own.of<SpeechOptions>().convolutions = 1;
       }},
      {"three_layers", [](Options& o) { o.own.of<SpeechOptions>().convolutions = 3; }},
      {"transformer",
       [](Options& o) { o.kind = "transformer", o.activation = "gelu", o.attention.heads = 2, o.norm = "pre"; }},
      {"transformer_to_rnn",
       [](Options& o) {
         o.encoder = "transformer", o.decoder = "rnn", o.activation = "gelu", o.positions = "rotary";
         o.input_feeding = true;
       }},
      {"ctc", [](Options& o) { o.attention.score = "additive", o.own.of<SpeechOptions>().ctc = 0.5f; }},
      {"guided", [](Options& o) { o.attention.score = "additive", o.attention.time = "guided"; }},
  };
}

Options options_for(const Hearing& way) {
  Options o{.task = "speech", .source_vocabulary = 3, .target_vocabulary = kSpoken};
  o.width = 8;
  o.dropout = 0.0f;
  SpeechOptions& speech = o.own.of<SpeechOptions>();
  speech.bands = kBands;
  speech.channels = 4;
  way.change(o);
  return o;
}

std::vector<float> frames_of(int64_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> frames(static_cast<size_t>(rows * kBands));
  // Large, so that what reaches the norm after three layers is not small beside the steps of a slope.
  for (float& value : frames) value = std::normal_distribution<float>(0.0f, 3.0f)(random);
  return frames;
}

data::Examples recordings() {
  data::Examples all(0, kBands << 2);
  const std::vector<std::vector<int32_t>> said = {{3, 4, 8}, {5}, {7, 7}};
  const std::vector<int64_t> rows = {13, 4, 9};
  for (size_t i = 0; i < said.size(); ++i) {
    all.source.add({.numbers = frames_of(rows[i], i)});
    all.target.add(said[i]);
  }
  return all;
}

data::Batch packed(const std::vector<int64_t>& order = {0, 1, 2}) { return recordings().pack(order); }

class SpeechModelTest : public testing::TestWithParam<Hearing> {};

TEST_P(SpeechModelTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const SpeechModel model(parameters, options_for(GetParam()));
  const data::Batch batch = packed();
  const bool costs = GetParam().name == "guided" || GetParam().name == "ctc";  // beside the likelihood, while training
  Tape tape;
  tape.backward(model.loss(tape, batch, {}).loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    const model::Loss loss = model.loss(plain, batch, {});
    return costs ? static_cast<double>(loss.loss.row(0)[0]) : loss.negative_log_likelihood;
  });
}

TEST_P(SpeechModelTest, ARecordingIsReadTheSameAloneAndInABatch) {
  Parameters parameters(1);
  const SpeechModel model(parameters, options_for(GetParam()));
  Tape tape({.recording = false, .training = false}), other({.recording = false, .training = false});
  const data::Batch all = packed(), one = packed({1}), turned = packed({2, 1, 0});
  const OutputLoss together = model.loss(tape, all, {}), alone = model.loss(other, one, {});
  ASSERT_EQ(alone.rows, 2);
  for (size_t r = 0; r < 2; ++r) EXPECT_EQ(alone.row_nll[r], together.row_nll[4 + r]);
  const std::vector<float> row_nll(together.row_nll.begin(), together.row_nll.end());
  other.reset();
  const OutputLoss back = model.loss(other, turned, {});
  for (size_t r = 0; r < 4; ++r) EXPECT_EQ(back.row_nll[5 + r], row_nll[r]);
}

// Step by step, as a search goes, with the same numbers; and there is a weight for each row of the memory.
TEST_P(SpeechModelTest, StepByStepIsTheSame) {
  Parameters parameters(1);
  const Options options = options_for(GetParam());
  const SpeechModel model(parameters, options);
  const data::Batch batch = packed({0});
  Tape tape({.recording = false, .training = false});
  const OutputLoss at_once = model.loss(tape, batch, {});
  const std::vector<float> row_nll(at_once.row_nll.begin(), at_once.row_nll.end());  // the tape is reset
  tape.reset();
  const auto state = model.start(tape, batch.sources, 5);
  const int64_t rows = task::rows_of_frames(13, task::speech_options(options).convolutions);
  EXPECT_EQ(model.memory_rows(batch.sources, 0), rows);
  for (size_t t = 0; t < batch.targets.in.size(); ++t) {
    tape.reset();
    decode::Alignment alignment;
    const int32_t token = batch.targets.in[t];
    const Tensor logits = model.step({&token, 1}, *state, tape, &alignment);
    double sum = 0;
    for (int64_t v = 0; v < kSpoken; ++v) sum += std::exp(static_cast<double>(logits.row(0)[v]));
    EXPECT_NEAR(std::log(sum) - logits.row(0)[batch.targets.out[t]], row_nll[t], 2e-5);
    const attend::Weights& weights = alignment.layers.back();
    ASSERT_EQ(weights.keys, rows);
    EXPECT_NEAR(std::accumulate(weights.at(0, 0, 0), weights.at(0, 0, 0) + rows, 0.0), 1.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(, SpeechModelTest, testing::ValuesIn(ways_to_hear()),
                         [](const auto& i) { return i.param.name; });

// ------------------------------------------------------------------------------------------- the layers before it

double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// Straight from the formula: convolution 3 x 3 with stride 2 over one recording, gelu.
std::vector<double> halved(const std::vector<double>& x, int64_t rows, int64_t columns, int64_t in, const Parameter& w,
                           const Parameter& bias) {
  const int64_t out = std::ssize(bias.value), new_rows = (rows + 1) / 2, new_columns = (columns + 1) / 2;
  std::vector<double> y;
  for (int64_t r = 0; r < new_rows; ++r)
    for (int64_t c = 0; c < new_columns; ++c)
      for (int64_t o = 0; o < out; ++o) {
        double sum = bias.value[static_cast<size_t>(o)];
        for (int64_t k = 0; k < 9 * in; ++k) {
          const int64_t at_r = 2 * r - 1 + k / in / 3, at_c = 2 * c - 1 + k / in % 3;
          if (at_r < 0 || at_r >= rows || at_c < 0 || at_c >= columns) continue;
          sum += w.value[static_cast<size_t>(o * 9 * in + k)] *
                 x[static_cast<size_t>((at_r * columns + at_c) * in + k % in)];
        }
        y.push_back(gelu_of(sum));
      }
  return y;
}

TEST(FrameConvolution, IsItsFormulaWhateverStandsBeside) {
  for (const int64_t layers : {1, 2, 3}) {
    const SpeechOptions options = {.bands = kBands, .convolutions = layers, .channels = 4};
    Parameters parameters(3);
    const task::FrameConvolution convolution(Scope(parameters) / "frames", options, 5);
    std::mt19937_64 random(9);
    for (Parameter& p : parameters)  // no bias is 0, so that it would show between recordings
      if (p.name.ends_with("bias"))
        for (float& value : p.value) value = std::normal_distribution<float>(1.0f)(random);
    for (const int64_t frames : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) {
      data::Ragged<float> numbers;
      numbers.add(frames_of(11, 1));
      numbers.add(frames_of(frames, 2));
      numbers.add(frames_of(6, 3));
      Tape tape({.recording = false, .training = false});
      const Packed found = convolution.run(tape, numbers);
      const std::vector<float> given = frames_of(frames, 2);
      std::vector<double> x(given.begin(), given.end());
      int64_t rows = frames, columns = kBands, in = 1;
      for (int64_t l = 0; l < layers; ++l) {
        const std::string name = fmt::format("frames.convolution.{}.", l);
        x = halved(x, rows, columns, in, parameters.at(name + "weight"), parameters.at(name + "bias"));
        rows = (rows + 1) / 2, columns = (columns + 1) / 2, in = 4;
      }
      ASSERT_EQ(found.offsets.length(1), rows);
      ASSERT_EQ(task::rows_of_frames(frames, layers), rows);
      const Parameter &w = parameters.at("frames.linear.weight"), &b = parameters.at("frames.linear.bias");
      const Parameter &gain = parameters.at("frames.norm.gain"), &shift = parameters.at("frames.norm.bias");
      for (int64_t r = 0; r < rows; ++r) {
        std::vector<double> y;
        for (int64_t o = 0; o < 5; ++o) {
          y.push_back(b.value[static_cast<size_t>(o)]);
          for (int64_t i = 0; i < columns * in; ++i)
            y.back() +=
                w.value[static_cast<size_t>(o * columns * in + i)] * x[static_cast<size_t>(r * columns * in + i)];
        }
        const double mean = std::accumulate(y.begin(), y.end(), 0.0) / 5;
        double variance = 0;
        for (const double value : y) variance += (value - mean) * (value - mean) / 5;
        for (size_t o = 0; o < 5; ++o)
          EXPECT_NEAR(found.rows.row(found.offsets.at[1] + r)[o],
                      (y[o] - mean) / std::sqrt(variance + 1e-5) * gain.value[o] + shift.value[o], 2e-5)
              << layers << " layers, " << frames << " frames, row " << r;
      }
    }
  }
}

// ------------------------------------------------------------------------------------------- what changes frames

TEST(ChangedFrames, DependOnTheSeedAlone) {
  const SpeechOptions o = {.bands = kBands,
                           .time_masks = 2,
                           .time_mask = 4,
                           .band_masks = 1,
                           .band_mask = 2,
                           .band_shift = 2,
                           .stretch = 0.2};
  const std::vector<float> frames = frames_of(40, 1);
  EXPECT_EQ(changed_frames(frames, o, 5), changed_frames(frames, o, 5));
  EXPECT_NE(changed_frames(frames, o, 5), changed_frames(frames, o, 6));
  EXPECT_EQ(changed_frames(frames, {.bands = kBands}, 5), frames);
}

TEST(ChangedFrames, HideStretchesOfTimeAndOfBands) {
  const std::vector<float> ones(20 * kBands, 1.0f);
  int64_t hidden_rows = 0, hidden_bands = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto in_time = changed_frames(ones, {.bands = kBands, .time_masks = 1, .time_mask = 50}, seed);
    ASSERT_EQ(in_time.size(), ones.size());
    int64_t rows = 0;
    for (int64_t t = 0; t < 20; ++t) {
      const float first = in_time[static_cast<size_t>(t * kBands)];
      for (int64_t b = 0; b < kBands; ++b) ASSERT_EQ(in_time[static_cast<size_t>(t * kBands + b)], first);
      rows += first == 0.0f ? 1 : 0;
    }
    EXPECT_LE(rows, 4);  // a fifth
    hidden_rows += rows;
    const auto in_bands = changed_frames(ones, {.bands = kBands, .band_masks = 1, .band_mask = 3}, seed);
    const auto bands = std::count(in_bands.begin(), in_bands.begin() + kBands, 0.0f);
    EXPECT_LE(bands, 3);
    EXPECT_EQ(std::count(in_bands.begin(), in_bands.end(), 0.0f), 20 * bands);
    hidden_bands += bands;
  }
  EXPECT_NEAR(static_cast<double>(hidden_rows) / 200, 2.0, 0.4);
  EXPECT_NEAR(static_cast<double>(hidden_bands) / 200, 1.5, 0.3);
}

TEST(ChangedFrames, AreFasterOrSlowerHigherOrLower) {
  const std::vector<float> frames = frames_of(100, 1);
  int64_t least = 1000, most = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto changed = changed_frames(frames, {.bands = kBands, .stretch = 0.2}, seed);
    least = std::min<int64_t>(least, std::ssize(changed) / kBands);
    most = std::max<int64_t>(most, std::ssize(changed) / kBands);
    for (int64_t b = 0; b < kBands; ++b) EXPECT_EQ(changed[static_cast<size_t>(b)], frames[static_cast<size_t>(b)]);
    const auto shifted = changed_frames(frames, {.bands = kBands, .band_shift = 1}, seed);
    const bool up = shifted[0] == frames[1], down = shifted[1] == frames[0] && !up, same = shifted == frames;
    EXPECT_TRUE(up || down || same) << seed;
  }
  EXPECT_GE(least, 80);
  EXPECT_LE(most, 120);
  EXPECT_LT(least, 90);
  EXPECT_GT(most, 110);
}

TEST(ChangedFrames, HaveAnotherToneAndMoreNoise) {
  const std::vector<float> frames = frames_of(30, 1);
  const auto [least, most] = std::minmax_element(frames.begin(), frames.end());
  bool louder = false, raised = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto toned = changed_frames(frames, {.bands = kBands, .tone = 0.5}, seed);
    for (int64_t b = 0; b < kBands; ++b) {  // each band by the same amount throughout
      const float by = toned[static_cast<size_t>(b)] - frames[static_cast<size_t>(b)];
      EXPECT_LE(std::abs(by), 1.0f + 1e-5f);
      louder |= by > 0.1f;
      for (int64_t t = 0; t < 30; ++t)
        EXPECT_NEAR(toned[static_cast<size_t>(t * kBands + b)] - frames[static_cast<size_t>(t * kBands + b)], by, 1e-5);
    }
    const auto noisy = changed_frames(frames, {.bands = kBands, .noise = 0.5}, seed);
    const float floor = *std::min_element(noisy.begin(), noisy.end());
    EXPECT_LE(floor, *least + 0.5f * (*most - *least) + 1e-5f);
    raised |= floor > *least;
    for (size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(noisy[i], std::max(frames[i], floor));
  }
  EXPECT_TRUE(louder && raised);
}

// ------------------------------------------------------------------------------------------------------------ times

TEST(WordTimes, AreWhereTheAttentionWas) {
  const std::vector<std::string_view> sentences = {"ab c"};
  const auto letters = text::Tokeniser::train(sentences, {.kind = "characters"});
  task::Output output{.text = "ab c", .ids = letters->encode("ab c")};
  EXPECT_TRUE(task::word_times(output, 0.5, *letters).empty());  // no alignment
  output.alignment = {{0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 1}};
  const std::vector<task::WordTime> times = task::word_times(output, 0.5, *letters);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0], (task::WordTime{"ab", 0.5, 1.5}));
  EXPECT_EQ(times[1], (task::WordTime{"c", 2.0, 2.5}));
  const auto labels = text::Tokeniser::train(sentences, {.kind = "lines"});
  output.ids = labels->encode("ab c");
  output.alignment = {{0.05f, 0.9f, 0.05f, 0, 0}};
  const std::vector<task::WordTime> whole = task::word_times(output, 0.5, *labels);
  ASSERT_EQ(whole.size(), 2u);  // a label of two words
  EXPECT_EQ(whole[1], (task::WordTime{"c", 0.5, 1.0}));
}

}  // namespace
}  // namespace heed::model::test
