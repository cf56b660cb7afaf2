// What holds for every encoder of the list.
#include "heed/model/encode/all.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/model/encode/convolution.h"
#include "heed/tensor/tape.h"

namespace heed::encode {
namespace {

constexpr int64_t kWidth = 8;

StackOptions small() {
  StackOptions o{.width = kWidth, .layers = 2, .hidden = 12};
  o.attention.heads = 2;
  return o;
}

std::vector<float> some_rows(int64_t rows) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(rows * kWidth));
  for (float& value : x) value = normal(random);
  return x;
}

class Encoders : public testing::TestWithParam<const EncoderEntry*> {};

TEST_P(Encoders, GiveAMemoryOfTheirWidth) {
  Parameters parameters(1);
  const auto encoder = GetParam()->make(Scope(parameters), small());
  const std::vector<float> x = some_rows(5);
  const std::vector<int64_t> offsets = {0, 2, 5};
  Tape tape({.recording = false, .training = false});
  const Encoded encoded = encoder->run({tape.input(x.data(), 5, kWidth), tape.offsets(offsets)});
  EXPECT_EQ(encoded.memory.rows.rows(), 5);
  EXPECT_EQ(encoded.memory.rows.cols(), encoder->width());
  EXPECT_EQ(encoded.memory.offsets.count, 2);
  EXPECT_TRUE(encoded.blocks.empty()) << "nobody asked for them";
}

// What is read with others is read as alone.
TEST_P(Encoders, ReadEverySequenceByItself) {
  Parameters parameters(1);
  const auto encoder = GetParam()->make(Scope(parameters), small());
  const std::vector<float> x = some_rows(5);
  const std::vector<int64_t> both = {0, 2, 5}, one = {0, 3};
  Tape tape({.recording = false, .training = false});
  const Tensor together = encoder->run({tape.input(x.data(), 5, kWidth), tape.offsets(both)}).memory.rows;
  const Tensor alone = encoder->run({tape.input(x.data() + 2 * kWidth, 3, kWidth), tape.offsets(one)}).memory.rows;
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t c = 0; c < alone.cols(); ++c) EXPECT_NEAR(alone.row(r)[c], together.row(r + 2)[c], 1e-6);
}

TEST_P(Encoders, HandOverTheirBlocksOnRequest) {
  StackOptions o = small();
  o.wiring = Wiring::same_block;
  Parameters parameters(1);
  const auto encoder = GetParam()->make(Scope(parameters), o);
  const std::vector<float> x = some_rows(4);
  const std::vector<int64_t> offsets = {0, 4};
  Tape tape({.recording = false, .training = false});
  const Encoded encoded = encoder->run({tape.input(x.data(), 4, kWidth), tape.offsets(offsets)});
  EXPECT_EQ(encoder->blocks(), 2);
  ASSERT_EQ(std::ssize(encoded.blocks), encoder->blocks());
  for (int64_t c = 0; c < encoder->width(); ++c)
    EXPECT_EQ(encoded.blocks.back().row(3)[c], encoded.memory.rows.row(3)[c]) << "the last is the memory";
}

TEST_P(Encoders, SayWhatIsKnownOfThem) {
  EXPECT_NE(std::string(GetParam()->meaning), "");
  EXPECT_NE(std::string(GetParam()->keys), "");
  EXPECT_GT(GetParam()->updates_to_learn, 0);
}

// A key that an entry declares is one that it says it reads.
TEST_P(Encoders, ReadTheKeysThatTheyDeclare) {
  if (!GetParam()->add_keys) return;
  OwnOptions own;
  file::Fields fields;
  fields.section("model", "");
  GetParam()->add_keys(fields, own);
  for (const std::string& key : fields.keys())
    EXPECT_NE((" " + std::string(GetParam()->keys) + " ").find(" " + key.substr(key.find('.') + 1) + " "),
              std::string::npos)
        << key;
}

INSTANTIATE_TEST_SUITE_P(, Encoders, testing::ValuesIn(all_encoders().entries()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(OwnOptions, AreSetByTheKeysOfTheirEntry) {
  OwnOptions own;
  EXPECT_EQ(std::as_const(own).of<ConvolutionKeys>().kernel, 3) << "as it is declared";
  file::Fields fields;
  fields.section("model", "");
  find_encoder("convolution").add_keys(fields, own);
  fields.parse("[model]\nkernel = 5\n", "x.toml");
  EXPECT_EQ(std::as_const(own).of<ConvolutionKeys>().kernel, 5);
  const OwnOptions copy = own;
  own.of<ConvolutionKeys>().kernel = 2;
  EXPECT_EQ(copy.of<ConvolutionKeys>().kernel, 5) << "a copy is its own";
  EXPECT_THROW(fields.parse("[model]\nkernel = 0\n", "x.toml"), Error);
  // And they reach the model.
  StackOptions o = small();
  o.own = copy;
  Parameters parameters(1);
  find_encoder("convolution").make(Scope(parameters), o);
  EXPECT_EQ(parameters.at("0.weight").shape, (std::vector<int64_t>{kWidth, 5 * kWidth}));
}

}  // namespace
}  // namespace heed::encode
