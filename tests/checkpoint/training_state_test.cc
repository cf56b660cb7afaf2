#include "heed/checkpoint/training_state.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ctime>
#include <limits>
#include <random>

#include "heed/checkpoint/manifest.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::TrainingState;

TrainingState again(const TrainingState& state) { return TrainingState::parse(state.json(), "state.json"); }

TEST(TrainingState, EverythingComesBack) {
  TrainingState state;
  state.set("flag", true);
  state.set("step", 1234);
  state.set("negative", int64_t{INT64_MIN});
  state.set("seed", uint64_t{UINT64_MAX});
  state.set("best", 0.1);
  state.set("whole", 3.0);
  state.set("worst", std::numeric_limits<double>::infinity());
  state.set("least", -std::numeric_limits<double>::infinity());
  state.set("nothing", std::nan(""));
  state.set("generator", "12 34\n\"\xc3\xa9");
  const TrainingState back = again(state);
  EXPECT_EQ(back.values().size(), 10u);
  EXPECT_TRUE(back.flag("flag"));
  EXPECT_EQ(back.integer("step"), 1234);
  EXPECT_EQ(back.natural("step"), 1234u);
  EXPECT_EQ(back.integer("negative"), INT64_MIN);
  EXPECT_EQ(back.natural("seed"), UINT64_MAX);
  EXPECT_EQ(back.real("best"), 0.1);
  EXPECT_EQ(back.real("whole"), 3.0);
  EXPECT_EQ(back.real("worst"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.real("least"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(back.real("nothing")));
  EXPECT_EQ(back.text("generator"), "12 34\n\"\xc3\xa9");
  EXPECT_EQ(back.json(), state.json());
}

TEST(TrainingState, RealNumbersComeBackBitByBit) {
  std::mt19937_64 random(7);
  TrainingState state;
  std::vector<double> numbers = {0.0, -0.0, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3.0};
  while (numbers.size() < 5000) {
    const auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) numbers.push_back(number);
  }
  for (size_t i = 0; i < numbers.size(); ++i) state.set(std::to_string(i), numbers[i]);
  const TrainingState back = again(state);
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(back.real(std::to_string(i))), std::bit_cast<uint64_t>(numbers[i])) << numbers[i];
}

TEST(TrainingState, Refusals) {
  TrainingState state;
  expect_error([&] { state.integer("step"); }, "the state has no 'step': it is empty");
  state.set("step", -1);
  state.set("seed", uint64_t{UINT64_MAX});
  state.set("loss", 0.5);
  state.set("name", "x");
  EXPECT_TRUE(state.has("step"));
  EXPECT_FALSE(state.has("stop"));
  expect_error([&] { state.integer("stop"); }, "the state has no 'stop'; did you mean 'step'?");
  expect_error([&] { state.natural("step"); }, "the state's 'step' must not be negative, it is -1");
  expect_error([&] { state.integer("seed"); }, "the state's 'seed' must be at most 2^63 - 1, not 18446744073709551615");
  expect_error([&] { state.integer("loss"); }, "the state's 'loss' must be a whole number, not a real number");
  expect_error([&] { state.natural("name"); }, "the state's 'name' must be a whole number, not a text");
  EXPECT_EQ(state.integer("step", -1, 5), -1);
  expect_error([&] { state.integer("step", 0, 5); }, "the state's 'step' must be from 0 to 5, not -1");
  expect_error([&] { state.real("step"); }, "the state's 'step' must be a real number, not a whole number");
  expect_error([&] { state.flag("name"); }, "the state's 'name' must be true or false, not a text");
  expect_error([&] { state.text("loss"); }, "the state's 'loss' must be a text, not a real number");
  state.set("name", "\xff");
  expect_error([&] { state.json(); }, "cannot write the state: a name or a text in it is not valid UTF-8");
  for (const char* text : {"", "[]", "1", "{", "{\"a\":1}x"})
    expect_error([&] { TrainingState::parse(text, "s"); }, "'s': it must be a JSON object");
  expect_error([&] { TrainingState::parse(R"({"stop":1})", "s").integer("step"); },
               "'s' has no 'step'; did you mean 'stop'?");
  expect_error([&] { TrainingState::parse(R"({"a":[1]})", "s"); },
               "'s': 'a' must be a number, a text, true or false, not array");
  expect_error([&] { TrainingState::parse(R"({"a":{"real":"big"}})", "s"); },
               "'s': 'a' must be a number, a text, true or false, not object");
}

TEST(Manifest, GoesAndComesBack) {
  const std::string hash(64, 'a');
  const std::string text = file::manifest_text({{"config.toml", 12, hash}, {"weights.safetensors", 1u << 31, hash}});
  const auto parts = file::parse_manifest(text);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "config.toml");
  EXPECT_EQ(parts[1].size, uint64_t{1} << 31);
  EXPECT_EQ(parts[1].sha256, hash);
  EXPECT_EQ(file::manifest_text(parts), text);
}

TEST(Manifest, Refusals) {
  const std::string hash(64, 'a');
  const auto part = [&](const std::string& name) {
    return fmt::format(R"({{"name":"{}","size":1,"sha256":"{}"}})", name, hash);
  };
  const auto expect_refused = [](const std::string& text, const std::string& message) {
    SCOPED_TRACE(text);
    expect_error([&] { file::parse_manifest(text); }, "MANIFEST.json: " + message);
  };
  const auto with = [](const std::string& parts) {
    return fmt::format(R"({{"format":"heed checkpoint 1","parts":[{}]}})", parts);
  };
  EXPECT_EQ(file::parse_manifest(with(part("a"))).size(), 1u);
  for (const std::string& text : {std::string(), std::string("{}"), std::string("x"), std::string(R"({"format":1})"),
                                  with("") + "}", with("") + std::string(1, '\0'), std::string(100, '\0')})
    expect_refused(text, "it is not valid JSON with a 'format'");
  expect_refused(R"({"format":"heed checkpoint 2"})",
                 "the format is 'heed checkpoint 2', and this version of heed reads 'heed checkpoint 1'");
  for (const char* text : {R"({"format":"heed checkpoint 1"})", R"({"format":"heed checkpoint 1","parts":{}})",
                           R"({"format":"heed checkpoint 1","parts":[],"more":1})"})
    expect_refused(text, "it must hold 'format' and the list 'parts'");
  for (const std::string& inside :
       {std::string("1"), std::string("{}"), std::string(R"({"name":"a","size":-1,"sha256":")") + hash + R"("})",
        std::string(R"({"name":"a","size":1,"sha256":"ab"})"), std::string(R"({"name":1,"size":1,"sha256":"ab"})")})
    expect_refused(with(part("x") + "," + inside), "part 2 must have a name, a size and a SHA-256");
  for (const char* name : {"", ".", "..", "../weights", "/etc/passwd", "a/b", ".hidden", "-rf", "a b", "a\xc3\xa9"})
    expect_refused(with(part(name)), "part 1 must have the name of a file, of letters, digits, '.', '_' and '-'");
  expect_refused(with(part("a") + "," + part("a")), "the part 'a' appears twice");
}

TEST(Manifest, BracketsAndListsWithoutEnd) {
  const std::string deep = R"({"format":"heed checkpoint 1","parts":)" + std::string(120'000, '[');
  expect_error([&] { file::parse_manifest(deep); }, "MANIFEST.json: it is not valid JSON with a 'format'");
  expect_error([&] { file::parse_manifest(deep + std::string(120'000, ']') + "}"); },
               "MANIFEST.json: it is not valid JSON with a 'format'");
  std::vector<file::CheckpointPart> parts;
  parts.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) parts.push_back({"part" + std::to_string(i), 1, std::string(64, 'a')});
  const std::string text = file::manifest_text(parts);
  const std::clock_t begin = std::clock();
  expect_error([&] { file::parse_manifest(text); }, "MANIFEST.json: it lists 100000 parts; at most 1000 are allowed");
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace heed::test
