// Files of torch.save(): OpenNMT-py's LSTM answers as there; nothing in a pickle runs; nothing damaged is trusted.
#include "heed/imports/torch_file.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/imports/importer.h"
#include "heed/predict/predictor.h"
#include "tests/imports/golden.h"

namespace heed::imports::test {
namespace {

std::shared_ptr<const std::vector<std::byte>> bytes_of_text(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return std::make_shared<const std::vector<std::byte>>(first, first + text.size());
}

class OpenNmt : public testing::TestWithParam<const char*> {};

TEST_P(OpenNmt, ProbabilitiesAndOutputsAreTheSame) {
  const file::Json expected = golden_json("opennmt/expected.json");
  const Importer* importer = nullptr;
  Imported imported = read(golden(std::string("opennmt/") + GetParam()), {}, &importer);
  EXPECT_STREQ(importer->name, "opennmt");
  EXPECT_TRUE(imported.left.empty());
  const predict::Predictor predictor(std::move(imported.model));
  for (const file::Json& pair : elements(expected, "pairs")) {
    const std::string &source = text(pair, "source"), &target = text(pair, "target");
    const task::Prediction made = predictor.predict(source, {.beam = 1, .max_length = 12});
    EXPECT_EQ(made.text(), text(pair, "greedy")) << source;
    if (target.empty()) continue;
    const auto scores = predictor.score_all(std::vector<task::TextPair>{{.source = source, .target = target}});
    ASSERT_EQ(scores.front().error, "");
    const std::vector<file::Json>& logs = elements(pair, "log_probs");
    ASSERT_EQ(scores.front().token_log_probabilities.size(), logs.size());
    for (size_t i = 0; i < logs.size(); ++i)
      EXPECT_NEAR(scores.front().token_log_probabilities[i], number(logs[i]), 1e-4) << source << ", token " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(All, OpenNmt, testing::Values("model.pt", "zip.pt"),
                         [](const auto& name) { return std::string(name.param).substr(0, 3); });

/// All that an importer would look at.
void read_all(const std::string& contents) {
  const TorchFile file(bytes_of_text(contents), "file");
  ForeignTensors tensors("file");
  for (const char* part : {"model", "generator"})
    if (const PickleValue* dictionary = file.root().find(part)) file.add_all(tensors, *dictionary, part);
  for (const auto& [name, tensor] : tensors.all()) tensor.numbers();
}

TEST(TorchFile, WhatIsDamagedIsRefusedOrRead) {
  for (const char* name : {"opennmt/model.pt", "opennmt/zip.pt"}) {
    const std::string whole = file::read_text(golden(name));
    read_all(whole);
    text::Random random(1, 1);
    int refused = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = whole;
      for (uint64_t changes = 1 + random.below(3); changes > 0; --changes)
        damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      if (trial % 4 == 0) damaged.resize(random.below(damaged.size()));
      try {
        read_all(damaged);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
        ++refused;
      }
    }
    EXPECT_GT(refused, 700) << name;
  }
}

TEST(Pickle, OnlyDataIsRead) {
  const auto parse = [](const std::string& contents) {
    const auto bytes = bytes_of_text(contents);
    BytesReader from(*bytes, "file");
    return Pickle(from, "file");
  };
  const auto expect_refused = [&](const std::string& contents, const std::string& why) {
    try {
      parse(contents);
      ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  using namespace std::string_literals;
  // os.system("..."): a name, and what it would be called with.
  const Pickle called = parse(
      "\x80\x02"
      "cos\nsystem\nX\x02\x00\x00\x00ls\x85R."s);
  EXPECT_TRUE(called.root().is_made_by("os system"));
  EXPECT_EQ(called.root().items[1]->items[0]->text, "ls");
  // A list that holds itself.
  const Pickle round = parse(
      "]q\x00h\x00"
      "a."s);
  EXPECT_EQ(round.root().items[0], &round.root());
  const Pickle pairs = parse(
      "}(X\x01\x00\x00\x00"
      "aK\x05u."s);
  EXPECT_EQ(pairs.root().find("a")->integer, 5);
  EXPECT_EQ(pairs.root().find("b"), nullptr);
  expect_refused("(ios\nsystem\n."s, "0x69, which is no data");
  expect_refused("R."s, "takes a value where there is none");
  expect_refused("h\x07."s, "recalls what it never stored");
  expect_refused("u."s, "no mark");
  expect_refused(
      "X\xff\xff\xff\x7f"
      "a."s,
      "cut off");
  expect_refused("X\x01\x00\x00\x00\xff."s, "not UTF-8");
  expect_refused("NN."s, "ends with 2 values");
  expect_refused(""s, "cut off");
}

}  // namespace
}  // namespace heed::imports::test
