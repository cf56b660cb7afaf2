// What a model is, as text: read back as written, checked like a recipe, and found in the recipes of version 1.
#include "heed/task/description.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/task/all.h"
#include "heed/task/version_1.h"
#include "tests/train/small_run.h"

namespace heed::task::test {
namespace {

using train::test::expect_in;

std::string refused(const std::string& toml) {
  try {
    parse_description(toml, "model.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::file);
    return error.what();
  }
  return "accepted";
}

TEST(Description, EveryTaskReadsBackWhatItWrote) {
  for (const Task* task : all()) {
    Description d = default_description(*task);
    d.model.width = 48;
    d.model.attention.heads = 3;
    d.model.two_texts = std::string_view(task->name) == "classification";
    d.source.vocabulary = "in.vocab";
    d.answers.longest = 77;
    const std::string text = text_of(d);
    const Description back = parse_description(text, "model.toml");
    EXPECT_EQ(text_of(back), text) << task->name;
    EXPECT_EQ(difference(back, d), "") << task->name;
    EXPECT_EQ(&back.task(), task);
    EXPECT_EQ(back.model.width, 48);
    EXPECT_EQ(back.model.two_texts, d.model.two_texts);
    EXPECT_EQ(back.source.vocabulary, "in.vocab");
    EXPECT_EQ(back.answers.longest, 77);
    EXPECT_EQ(back.joint, d.joint);
  }
}

TEST(Description, IsCheckedLikeARecipe) {
  const std::string good = "version = 2\n[model]\ntask = \"pairs\"\n";
  EXPECT_EQ(refused(good), "accepted");
  expect_in("version is missing", refused("[model]\ntask = \"pairs\"\n"));
  expect_in("'model.toml' has version 3, but this version of heed reads 2; a newer heed may read it",
            refused("version = 3\n[new]\nkey = 1\n"));
  expect_in("version must be at least 2, not 1", refused("version = 1\n"));
  expect_in("model.toml:4: model.width must be from 1", refused(good + "width = 0\n"));
  expect_in("unknown key 'model.widht'; did you mean 'model.width'?", refused(good + "widht = 8\n"));
  expect_in("did you mean 'rnn'?", refused(good + "kind = \"rnm\"\n"));
  expect_in("unknown section [train]", refused(good + "[train]\nclip = 1.0\n"));
  expect_in("did you mean 'seq2seq'?", refused("version = 2\n[model]\ntask = \"seq2se\"\n"));
  expect_in("attention.heads must be from 1", refused(good + "[attention]\nheads = 0\n"));
}

TEST(Description, WhatCannotBeTrueOfOneModel) {
  const std::string tied = "version = 2\n[model]\ntied = \"all\"\n[tokens]\n";
  expect_in("model.tied = \"all\" needs tokens.joint = true: one vocabulary", refused(tied));
  EXPECT_EQ(refused(tied + "joint = true\n"), "accepted");
  const std::string tokens = "version = 2\n[tokens]\n";
  // It names a part of the checkpoint, never another file.
  for (const char* name : {"../source.vocab", "/etc/passwd", "weights.safetensors", ".vocab", ""})
    expect_in("cannot be the name of a vocabulary",
              refused(tokens + fmt::format("source_vocabulary = \"{}\"\n", name)));
  expect_in("both vocabularies have the name 'target.vocab'",
            refused(tokens + "source_vocabulary = \"target.vocab\"\n"));
}

TEST(Description, OneVocabularyHasOneKindOfTokens) {
  const Description d =
      parse_description("version = 2\n[tokens]\njoint = true\nsource = \"bytes\"\ntarget = \"words\"\n", "model.toml");
  EXPECT_EQ(d.target.tokens, "bytes");
}

TEST(Description, OtherModelsDiffer) {
  Description a = default_description(*all().front()), b = a;
  b.answers.longest = 9;  // answers may be limited otherwise
  EXPECT_EQ(difference(a, b), "");
  b.model.width = 8;
  b.source.tokens = "words";
  EXPECT_EQ(difference(b, a), "model.width is 8, was 256; tokens.source is \"words\", was \"characters\"");
  b.model.task = "classification";
  EXPECT_EQ(difference(b, a), "model.task is \"classification\", was \"seq2seq\"");
}

// Version 1 has no description: a recipe says what the model is, among much else.
TEST(Description, FollowsFromARecipeOfVersion1) {
  const Description d = description_in_recipe(
      "[data]\ntsv = \"x.tsv\"\nsecond_text_column = 2\nlabels_between = \";\"\nmax_source = 40\nsource_tokens = "
      "\"words\"\n[model]\ntask = \"label\"\nwidth = 12\n[attention]\nscore = \"additive\"\n[train]\nany = "
      "1\n[train.more]\n"
      "x = 2\n[stop]\nsteps = 4\n[validate]\nlongest = 9\nmetric = \"accuracy\"\n[output]\nfolder = \"x\"\n",
      "config.toml");
  EXPECT_EQ(d.model.task, "classification");
  EXPECT_EQ(d.model.width, 12);
  EXPECT_EQ(d.model.attention.score, "additive");
  EXPECT_TRUE(d.model.two_texts);
  EXPECT_EQ(d.source.tokens, "words");
  EXPECT_EQ(d.target.tokens, "lines");
  EXPECT_EQ(d.source.vocabulary, "source.vocab");
  EXPECT_EQ(d.target.vocabulary, "target.vocab");
  EXPECT_EQ(d.answers.longest, 9);
  EXPECT_EQ(d.answers.max_source, 40);
  EXPECT_EQ(d.answers.label_separator, ";");
  const auto wrong = [](const char* toml) -> std::string {
    try {
      description_in_recipe(toml, "config.toml");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::file);
      return error.what();
    }
    return "accepted";
  };
  expect_in("config.toml:2: model.width must be from 1", wrong("[model]\nwidth = 0\n"));
  expect_in("unknown section [modle]", wrong("[modle]\nwidth = 1\n"));
  expect_in("needs tokens.joint", wrong("[model]\ntied = \"all\"\n"));
}

}  // namespace
}  // namespace heed::task::test
