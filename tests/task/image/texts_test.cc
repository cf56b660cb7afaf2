#include "heed/task/image/texts.h"

#include <set>

#include <gtest/gtest.h>

#include "heed/data/picture_source.h"
#include "heed/model/options.h"
#include "heed/train/recipe/recipe.h"
#include "tests/base/folder.h"

namespace heed::task {
namespace {

recipe::Recipe picture_recipe(const std::filesystem::path& table) {
  return recipe::parse("", "test", std::vector<std::string>{"model.task=image", "data.tsv=" + table.string()});
}

/// The value that is suggested for a key that the recipe leaves open.
std::string suggested(const RawPictureCorpus& texts, const recipe::Recipe& recipe, const std::string& key) {
  for (const Suggestion& each : texts.suggest(recipe.open, recipe.data, recipe.model))
    if (each.key == key) return each.value;
  return "";
}

std::string table_of(int pictures, bool questions) {
  std::string lines;
  for (int i = 0; i < pictures; ++i)
    for (const char* shape : {"circle", "ring", "bar"})
      lines += questions ? fmt::format("scene:{}\t{}\tred\n", i, shape) : fmt::format("scene:{}\t{} {}\n", i, shape, i);
  return lines;
}

TEST(RawPictureCorpus, ColumnsAreFoundAndSoAreLabels) {
  const Folder folder;
  const recipe::Recipe asked = picture_recipe(folder.write("asked.tsv", table_of(20, true)));
  const RawPictureCorpus questions(asked.data, 1);
  EXPECT_EQ(suggested(questions, asked, "data.question_column"), "2");
  EXPECT_EQ(suggested(questions, asked, "data.answer_column"), "3");
  EXPECT_EQ(suggested(questions, asked, "model.questions"), "true");
  EXPECT_EQ(suggested(questions, asked, "data.target_tokens"), "lines");
  const recipe::Recipe told = picture_recipe(folder.write("told.tsv", table_of(20, false)));
  const RawPictureCorpus captions(told.data, 1);
  EXPECT_EQ(suggested(captions, told, "data.question_column"), "0");
  EXPECT_EQ(suggested(captions, told, "model.questions"), "false");
  EXPECT_EQ(suggested(captions, told, "data.target_tokens"), "words");
}

TEST(RawPictureCorpus, NoPictureIsTrainedAndValidatedOn) {
  const Folder folder;
  const recipe::Recipe recipe = picture_recipe(folder.write("x.tsv", table_of(40, true)));
  const TextPairs pairs = load_pairs(
      [&] {
        data::Options options = recipe.data;
        options.train = find_picture_columns(options.train);
        return options;
      }(),
      1, picture_of);
  std::set<std::string> trained, validated;
  for (const std::string& source : pairs.train.source) trained.emplace(picture_of(source));
  for (const std::string& source : pairs.valid.source) validated.emplace(picture_of(source));
  EXPECT_EQ(trained.size() + validated.size(), 40u);
  EXPECT_EQ(validated.size(), 4u);  // a tenth
  EXPECT_EQ(pairs.valid.size(), 12);
}

TEST(RawPictureCorpus, ModelAndDataAgreeAboutQuestions) {
  const Folder folder;
  const recipe::Recipe recipe = picture_recipe(folder.write("x.tsv", table_of(20, true)));
  RawPictureCorpus texts(recipe.data, 1);
  const Vocabularies vocabularies = texts.learn_vocabularies(recipe.data, nullptr);
  model::Options model = recipe.model;
  model.questions = false;
  expect_part(error_of([&] { texts.encode(vocabularies, recipe.data, model); }), "data.question_column");
  model.questions = true;
  const Corpus corpus = texts.encode(vocabularies, recipe.data, model);
  EXPECT_EQ(corpus.train->size(), 54);
  EXPECT_EQ(corpus.valid->size(), 6);
  EXPECT_EQ(corpus.references.source.size(), 6u);
}

}  // namespace
}  // namespace heed::task
