#include "heed/task/speech/texts.h"

#include <gtest/gtest.h>

#include "heed/model/options.h"
#include "heed/sound/named_frames.h"
#include "heed/task/speech/speech_options.h"
#include "heed/train/recipe/data_files.h"
#include "heed/train/recipe/recipe.h"
#include "tests/base/folder.h"
#include "tests/sound/files_by_hand.h"

namespace heed::task {
namespace {

std::string recording(int64_t samples, uint64_t rate = 8000) {
  std::vector<uint64_t> all;
  for (int64_t i = 0; i < samples; ++i) all.push_back(static_cast<uint64_t>(i * i * 31 % 4000));
  return sound::wav({.rate = rate}, all);
}

recipe::Recipe recipe_for(const std::filesystem::path& data, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"model.task=speech", "data.tsv=" + data.string()});
  return recipe::parse("", "test", more);
}

std::string suggested(const RawSpeechCorpus& texts, const recipe::Recipe& recipe, const std::string& key) {
  for (const Suggestion& each : texts.suggest(recipe.open, recipe.data, recipe.model))
    if (each.key == key) return each.value;
  return "";
}

/// Files LABEL_N.wav.
void fill(const Folder& folder, const std::string& under = "") {
  for (int i = 0; i < 30; ++i)
    folder.write(under + fmt::format("{}_{}.wav", i % 2 == 0 ? "yes" : "no", i), recording(400 + 40 * i));
}

TEST(RawSpeechCorpus, AFolderIsLabelledByTheNamesOfItsFiles) {
  const Folder folder;
  fill(folder);
  folder.write("readme.txt", "no recording");
  const recipe::Recipe recipe = recipe_for(folder / "");
  RawSpeechCorpus texts(recipe.data, 1);
  EXPECT_EQ(suggested(texts, recipe, "data.target_tokens"), "lines");
  EXPECT_EQ(suggested(texts, recipe, "model.sample_rate"), "8000");
  EXPECT_EQ(suggested(texts, recipe, "model.bands"), "40");
  EXPECT_EQ(suggested(texts, recipe, "validate.metric"), "accuracy");
  const Vocabularies vocabularies = texts.learn_vocabularies(recipe.data, nullptr);
  model::Options model = recipe.model;
  model.own.of<SpeechOptions>() = {.sample_rate = 8000, .bands = 10};
  const Corpus corpus = texts.encode(vocabularies, recipe.data, model);
  EXPECT_EQ(corpus.train->size(), 27);
  EXPECT_EQ(corpus.valid->size(), 3);
  EXPECT_EQ(corpus.references.source.size(), 3u);
  const data::Batch batch = corpus.train->pack(std::vector<int64_t>{0});
  EXPECT_EQ(batch.sources.numbers.length(0) % 10, 0);
  EXPECT_EQ(batch.sources.tokens.length(0), 0);
}

TEST(RawSpeechCorpus, AFolderOfFoldersIsLabelledByThem) {
  const Folder folder;
  for (const char* label : {"left", "right now"}) {
    std::filesystem::create_directory(folder / label);
    for (int i = 0; i < 10; ++i) folder.write(fmt::format("{}/{}.wav", label, i), recording(500));
  }
  data::Report report;
  const data::Pairs pairs = data::read_pairs({.tsv = folder / "", .source_column = 0, .picture_column = 1}, report);
  ASSERT_EQ(pairs.size(), 20);
  EXPECT_EQ(pairs.target.front(), "left");
  EXPECT_EQ(pairs.target.back(), "right now");
  EXPECT_EQ(report.kept(), 20);
  folder.write("above.wav", recording(500));
  expect_part(
      error_of([&] { data::read_pairs({.tsv = folder / "", .source_column = 0, .picture_column = 1}, report); }),
      "1 files stand beside 2 folders");
}

TEST(RawSpeechCorpus, FilesWithoutLabelsThatRepeatAreRefused) {
  const Folder folder;
  for (int i = 0; i < 4; ++i) folder.write(fmt::format("{}.wav", i), recording(500));
  data::Report report;
  expect_part(
      error_of([&] { data::read_pairs({.tsv = folder / "", .source_column = 0, .picture_column = 1}, report); }),
      "4 files have 4 different labels");
}

TEST(RawSpeechCorpus, TablesAndFoldersAreRecognised) {
  const Folder folder, table;
  fill(folder);
  EXPECT_EQ(recipe::recognise(folder / "").task->name, std::string("speech"));
  EXPECT_EQ(recipe::recognise(folder / "").why, "a folder of 30 recordings");
  const auto named = table.write("x.tsv", "file\ttext\na.wav\tone\nb.flac\ttwo three\nc.npy\tfour\n");
  EXPECT_EQ(recipe::recognise(named).task->name, std::string("speech"));
  EXPECT_EQ(recipe::recognise(table.write("y.tsv", "one\ttwo.wav\n")).task->name, std::string("seq2seq"));
}

TEST(RawSpeechCorpus, WhatCannotBeReadIsLeftOutAndNamed) {
  const Folder folder;
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    folder.write(fmt::format("{}.wav", i), recording(800));
    lines += fmt::format("{}.wav\tone two {}\n", i, i % 3);
  }
  folder.write("cut.wav", recording(800).substr(0, 500));
  folder.write("text.wav", "no recording");
  folder.write("long.wav", recording(9000));
  lines += "cut.wav\tx\ntext.wav\tx\nlong.wav\tx\ngone.wav\tx\n";
  const recipe::Recipe recipe = recipe_for(folder.write("t.tsv", lines), {"model.longest_sound=1"});
  RawSpeechCorpus texts(recipe.data, 1);
  EXPECT_EQ(suggested(texts, recipe, "data.target_tokens"), "characters");
  const Vocabularies vocabularies = texts.learn_vocabularies(recipe.data, nullptr);
  const Corpus corpus = texts.encode(vocabularies, recipe.data, recipe.model);
  EXPECT_EQ(corpus.train->size() + corpus.valid->size(), 20);
  ASSERT_EQ(corpus.warnings.size(), 1u);
  for (const char* said : {"4 of 24 lines left out", "cut.wav", "cut short", "text.wav", "neither WAV nor FLAC",
                           "long.wav", "it is 1.1 s long", "gone.wav"})
    expect_part(corpus.warnings.front(), said);
}

TEST(RawSpeechCorpus, KeysThatDoNotFitAreRefused) {
  const auto wrong = [](const std::string& setting) { return error_of([&] { recipe_for("x.tsv", {setting}); }); };
  expect_part(wrong("data.text_column=1"), "are both 1");
  expect_part(wrong("model.sample_rate=7"), "sample_rate");
  EXPECT_FALSE(error_of([] { recipe_for("x.tsv", {"model.kind=transformer", "model.positions=learned"}); }).empty());
}

TEST(FrameReader, ResamplesAndTakesFramesThatAreReady) {
  const Folder folder;
  const sound::FrameReader reader({.mel = {.rate = 8000, .window = 200, .hop = 80, .bands = 3}});
  const sound::Frames slow = reader.read(folder.write("a.wav", recording(800)).string());
  EXPECT_EQ(slow.rows, 11);
  EXPECT_EQ(reader.read(folder.write("b.wav", recording(1600, 16'000)).string()).rows, 11);
  const std::string numbers = sound::bytes_of<float>({1, 2, 3, 4, 5, 6});
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const sound::Frames ready = reader.read(folder.write("c.npy", sound::npy(header, numbers, 1)).string());
  EXPECT_EQ(ready.values, (std::vector<float>{-1, -1, -1, 1, 1, 1}));  // of two, each band is one below and one above
  const std::string wide = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 6), }";
  const std::string path = folder.write("d.npy", sound::npy(wide, numbers, 1)).string();
  expect_part(error_of([&] { reader.read(path); }),
              "'" + path + "': its frames have 6 numbers each, but the model reads 3");
  expect_part(error_of([&] { reader.read("data:audio/wav;base64,AAAA"); }), "neither WAV nor FLAC");
  expect_part(error_of([&] { reader.read("data:image/png;base64,AAAA"); }), "data:audio/wav;base64,");
}

}  // namespace
}  // namespace heed::task
