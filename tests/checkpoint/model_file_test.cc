#include "heed/checkpoint/model_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/error.h"
#include "heed/checkpoint/checkpoint.h"
#include "tests/base/temporary.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Checkpoint;
using file::ModelTexts;
using file::Purpose;

const std::vector<float> kWeights = {1, 2, 3, 4, 5, 6};
/// A text with all that JSON escapes, one that is no text, and one that looks like the place of the hash.
const ModelTexts kTexts = {{"config.toml", "a = \"\u00e4\"\n\t\\ \x01"},
                           {"state.json", "{\"step\": 7}"},
                           {"source.vocab", std::string("\xff\0\x80 piece", 9)},
                           {"target.vocab", "\"sha256\":\"" + std::string(64, '0') + "\""}};

void write(const fs::path& path) {
  const std::vector<file::TensorToWrite> tensors = {{"w", {2, 3}, kWeights.data()}};
  file::write_model_file(path, kTexts, tensors);
}

TEST(ModelFile, GoesAndComesBack) {
  const TemporaryFolder folder;
  write(folder / "m.heed");
  const file::ModelFile back(folder / "m.heed");
  EXPECT_EQ(back.texts(), kTexts);
  EXPECT_EQ(back.weights().values("w"), kWeights);
  EXPECT_EQ(back.weights().metadata().at("format"), "heed model 1");
  EXPECT_EQ(back.weights().metadata().count("source.vocab.hex"), 1u);  // the only one that is no text
  EXPECT_EQ(back.weights().metadata().count("config.toml"), 1u);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"m.heed"});
  EXPECT_TRUE(file::is_model_file(folder / "m.heed"));
  EXPECT_EQ(file::Safetensors::read(folder / "m.heed").values("w"), kWeights);  // as any other reader does
}

TEST(ModelFile, IsACheckpointToRun) {
  const TemporaryFolder folder;
  write(folder / "m.heed");
  const Checkpoint back = Checkpoint::open(folder / "m.heed", Purpose::run);
  fs::remove(folder / "m.heed");  // it is open, and another of that name would be another
  EXPECT_TRUE(back.is_one_file());
  EXPECT_EQ(back.name(), "m.heed");
  EXPECT_EQ(back.parts().size(), 5u);
  EXPECT_EQ(back.text("config.toml"), kTexts.at("config.toml"));
  EXPECT_EQ(back.text("source.vocab"), kTexts.at("source.vocab"));
  EXPECT_EQ(back.state().integer("step"), 7);
  EXPECT_EQ(back.tensors(file::kWeightsPart).values("w"), kWeights);
  EXPECT_EQ(back.place_of("config.toml"), (folder / "m.heed").string() + ": config.toml");
  expect_error([&] { back.text("config.tom"); },
               fmt::format("checkpoint '{}' has no part 'config.tom'; did you mean 'config.toml'?",
                           (folder / "m.heed").string()));
}

TEST(ModelFile, DamageAfterOpeningIsSeen) {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.heed";
  write(path);
  const file::ModelFile open(path);
  Parameters to(2);
  to.make("w", {2, 3}, Initialiser::constant(0.0f));
  int loaded = 0;
  open.load(to, [&](Parameter& p, Dtype) { loaded += p.name == "w" ? 1 : 0; });
  EXPECT_EQ(loaded, 1);
  EXPECT_EQ(to.at("w").value, kWeights);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);  // in place, not another file of that name
  file.seekp(-1, std::ios::end);
  file.put('x');
  file.close();
  const std::string message =
      fmt::format("'{}' is damaged: its SHA-256 is not that of what was written; copy it again", path.string());
  expect_error([&] { open.load(to); }, message);
  expect_error([&] { open.weights(); }, message);
}

TEST(ModelFile, ATrainingCannotGoOnFromIt) {
  const TemporaryFolder folder;
  write(folder / "m.heed");
  expect_error([&] { Checkpoint::open(folder / "m.heed", Purpose::train); },
               fmt::format("'{}' holds a model to run, without the optimiser.safetensors that a training goes on from",
                           (folder / "m.heed").string()));
}

TEST(ModelFile, AnyChangedBitIsSeen) {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.heed";
  write(path);
  const std::string good = slurp(path);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    spill(path, bad);
    EXPECT_THROW(file::ModelFile{path}, Error) << "byte " << i;
  }
}

TEST(ModelFile, AnyCutIsSeen) {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.heed";
  write(path);
  const std::string good = slurp(path);
  for (size_t size = 0; size < good.size(); ++size) {
    spill(path, std::string_view(good).substr(0, size));
    EXPECT_THROW(file::ModelFile{path}, Error) << size << " bytes";
  }
  spill(path, good + '\0');
  EXPECT_THROW(file::ModelFile{path}, Error);
}

TEST(ModelFile, WhatIsNoModelIsNamed) {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.heed";
  const auto refused = [&](const std::string& message) {
    expect_error([&] { file::ModelFile{path}; }, fmt::format(fmt::runtime(message), path.string()));
  };
  for (const char* text : {"", "a\tb\n", "a longer line of text\tand {more}\n"}) {
    spill(path, text);
    refused(
        "'{}' is no model: a model is the folder of a training, one of its checkpoints, or a file that heed export "
        "wrote");
    EXPECT_FALSE(file::begins_as_safetensors(path));
    EXPECT_FALSE(file::is_model_file(path));
  }
  const std::vector<file::TensorToWrite> tensors = {{"w", {2, 3}, kWeights.data()}};
  for (const file::Metadata& metadata : {file::Metadata{}, file::Metadata{{"format", "pt"}}}) {
    file::write_safetensors(path, tensors, metadata);
    refused("'{}' holds tensors, but no model: heed export writes one, with the recipe and the vocabularies in it");
    EXPECT_TRUE(file::begins_as_safetensors(path));
    EXPECT_FALSE(file::is_model_file(path));
  }
  file::write_safetensors(path, tensors, {{"format", "heed model 2"}});
  refused(
      "'{}': the format is 'heed model 2', and this version of heed reads 'heed model 1'; a newer heed may read it");
  EXPECT_TRUE(file::is_model_file(path));
  file::write_safetensors(path, tensors, {{"format", "heed model 1"}});
  refused("'{}' is damaged: its header was changed, or written again by another program");
  file::write_safetensors(path, tensors, {{"format", "heed model 1"}, {"sha256", std::string(64, 'a')}});
  refused("'{}' is damaged: its SHA-256 is not that of what was written; copy it again");
  EXPECT_FALSE(file::begins_as_safetensors(folder / "nowhere"));
  EXPECT_FALSE(file::is_model_file(folder.path()));
}

TEST(ModelFile, NamesOfParts) {
  const TemporaryFolder folder;
  for (const char* name : {"../x", "format", "sha256", "a.hex", ""})
    expect_error(
        [&] {
          file::write_model_file(folder / "m.heed", {{name, "x"}}, {});
        },
        fmt::format("a part of a model cannot have the name '{}'", name));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

}  // namespace
}  // namespace heed::test
