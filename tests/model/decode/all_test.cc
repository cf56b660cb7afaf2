// What holds for every decoder of the list.
#include "heed/model/decode/all.h"

#include <random>

#include <gtest/gtest.h>

#include "heed/model/decode/text_decoder.h"
#include "heed/model/encode/all.h"
#include "heed/tensor/tape.h"

namespace heed::decode {
namespace {

constexpr int64_t kWidth = 8;

encode::StackOptions small(bool heads) {
  encode::StackOptions o{.width = kWidth, .layers = 2, .hidden = 12};
  if (heads) o.attention.heads = 2;
  return o;
}

std::vector<float> some_rows(int64_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(rows * kWidth));
  for (float& value : x) value = normal(random);
  return x;
}

/// A source of four tokens that a Transformer read.
struct Read {
  Parameters parameters{1};
  std::unique_ptr<encode::Encoder> encoder = encode::transformer(Scope(parameters) / "encoder", small(true));
  std::vector<float> x = some_rows(4, 3);
  Tape tape{{.recording = false, .training = false}};
  std::vector<int64_t> offsets = {0, 4};
  encode::Encoded encoded = encoder->run({tape.input(x.data(), 4, kWidth), tape.offsets(offsets)});
};

class Decoders : public testing::TestWithParam<const DecoderEntry*> {};

TEST_P(Decoders, EitherWriteStepByStepOrAllAtOnce) {
  EXPECT_NE(GetParam()->make != nullptr, GetParam()->make_parallel != nullptr);
  EXPECT_EQ(writes_by_step(*GetParam()), GetParam()->make != nullptr);
}

TEST_P(Decoders, SayWhatIsKnownOfThem) {
  EXPECT_NE(std::string(GetParam()->meaning), "");
  EXPECT_NE(std::string(GetParam()->keys), "");
  EXPECT_GT(GetParam()->updates_to_learn, 0);
}

// The same numbers, all steps at once and one after the other; and where it looked.
TEST_P(Decoders, StepsAreTheWholeTarget) {
  if (!GetParam()->make) return;
  Read read;
  const auto decoder =
      GetParam()->make(Scope(read.parameters) / "decoder", small(GetParam()->self_attention), *read.encoder);
  const std::vector<float> y = some_rows(3, 7);
  const std::vector<int64_t> target = {0, 3};
  const Tensor whole = decoder->run({read.tape.input(y.data(), 3, kWidth), read.tape.offsets(target)}, read.encoded);
  ASSERT_EQ(whole.cols(), decoder->width());
  const auto state = decoder->start(read.encoded, 3);
  for (int64_t t = 0; t < 3; ++t) {
    Alignment alignment;
    const Tensor step = decoder->step(read.tape.input(y.data() + t * kWidth, 1, kWidth), *state, &alignment);
    for (int64_t c = 0; c < step.cols(); ++c) EXPECT_NEAR(step.row(0)[c], whole.row(t)[c], 1e-5) << t;
    ASSERT_EQ(alignment.layers.size(), decoder->source_heads().size());
    EXPECT_EQ(alignment.layers.back().keys, 4);
    EXPECT_EQ(alignment.layers.back().heads, decoder->source_heads().back());
  }
}

INSTANTIATE_TEST_SUITE_P(, Decoders, testing::ValuesIn(all_decoders().entries()),
                         [](const auto& info) { return std::string(info.param->name); });

class TextDecoders : public testing::TestWithParam<const TextDecoderEntry*> {};

TEST_P(TextDecoders, StepsAreTheWholeText) {
  Parameters parameters(1);
  const auto decoder = GetParam()->make(
      Scope(parameters), {.stack = small(GetParam()->self_attention), .context = 8, .looks_back = false});
  const std::vector<float> x = some_rows(4, 5);
  const std::vector<int64_t> offsets = {0, 4};
  Tape tape({.recording = false, .training = false});
  const Tensor whole = decoder->run({tape.input(x.data(), 4, kWidth), tape.offsets(offsets)}, {});
  ASSERT_EQ(whole.cols(), decoder->width());
  const auto state = decoder->start(tape, 1, 4);
  for (int64_t t = 0; t < 4; ++t) {
    const Tensor step = decoder->step(tape.input(x.data() + t * kWidth, 1, kWidth), *state);
    for (int64_t c = 0; c < step.cols(); ++c) EXPECT_NEAR(step.row(0)[c], whole.row(t)[c], 1e-5) << t;
  }
}

// What a piece leaves is what the next one goes on from.
TEST_P(TextDecoders, CarryTheirStateIfTheySaySo) {
  Parameters parameters(1);
  const auto decoder = GetParam()->make(
      Scope(parameters), {.stack = small(GetParam()->self_attention), .context = 8, .looks_back = false});
  if (!decoder->carries()) return;
  const std::vector<float> x = some_rows(4, 5);
  const std::vector<int64_t> all = {0, 4}, half = {0, 2};
  Tape tape({.recording = false, .training = false});
  const Tensor whole = decoder->run({tape.input(x.data(), 4, kWidth), tape.offsets(all)}, {});
  std::vector<data::CarriedState> left;
  decoder->run({tape.input(x.data(), 2, kWidth), tape.offsets(half)}, {.after = &left});
  ASSERT_EQ(left.size(), 1u);
  const data::CarriedState* const before[] = {left.data()};
  const Tensor second =
      decoder->run({tape.input(x.data() + 2 * kWidth, 2, kWidth), tape.offsets(half)}, {.before = before});
  for (int64_t c = 0; c < whole.cols(); ++c) EXPECT_NEAR(second.row(1)[c], whole.row(3)[c], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(, TextDecoders, testing::ValuesIn(all_text_decoders().entries()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace heed::decode
