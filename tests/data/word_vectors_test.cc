#include "heed/data/word_vectors.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::data {
namespace {

struct VectorsTest : testing::Test {
  Folder folder;
  std::shared_ptr<const text::Tokeniser> words =
      text::Tokeniser::train(std::vector<std::string_view>{"the cat sat", "the dog"}, {.kind = "words"});
  std::vector<float> table = std::vector<float>(static_cast<size_t>(words->size()) * 2, 9.0f);

  int64_t read(const std::string& content) { return all(content).found; }
  WordVectors all(const std::string& content) {
    return read_word_vectors(folder.write("v.txt", content), *words, 2, table);
  }
  std::vector<float> row(const char* word) const {
    const auto at = static_cast<ptrdiff_t>(words->encode(word).front()) * 2;
    return {table.begin() + at, table.begin() + at + 2};
  }
};

TEST_F(VectorsTest, WithAndWithoutASizeLine) {
  for (const char* head : {"", "4 2\n"}) {
    EXPECT_EQ(read(std::string(head) + "the 1 -2.5e-1\nwolf 7 7\ndog  3 4 \n\nthe 5 5\n"), 2);
    EXPECT_EQ(row("the"), (std::vector<float>{1, -0.25f}));
    EXPECT_EQ(row("dog"), (std::vector<float>{3, 4}));
    EXPECT_EQ(row("cat"), (std::vector<float>{9, 9})) << "stays";
  }
  EXPECT_EQ(table[0], 9) << "no word is <unk>";
  EXPECT_EQ(width_of_vectors(folder.write("w.txt", "400000 3\na 1 2 3\n")), 3);
}

/// As in the GloVe vectors of 840 billion tokens: the last numbers of a line are its vector.
TEST_F(VectorsTest, WordsWithBlanks) {
  const WordVectors some = all("the 1 2\n. . . 5 6\nat name@domain.com 7 8\n2 3 4\ndog 3 4\n");
  EXPECT_EQ(some.found, 2);
  EXPECT_EQ(some.with_blanks, 2);
  EXPECT_EQ(some.line, 2);
  EXPECT_EQ(some.word, ". . .");
  EXPECT_EQ(row("dog"), (std::vector<float>{3, 4}));
  EXPECT_EQ(width_of_vectors(folder.write("w.txt", ". . . 5 6\nthe 1 2\n")), 2) << "also on the first line";
  EXPECT_EQ(width_of_vectors(folder.write("w.txt", "in 2019 5 6\nthe 1 2\na 1 2\n")), 2) << "as most lines";
  expect_part(error_of([&] { all("the dog 1 2 3\n"); }), "line 1 has a word and 4 numbers");
}

TEST_F(VectorsTest, BrokenLines) {
  expect_part(error_of([&] { read("the 1 2\ndog 3\n"); }), "line 2 has a word and 1 numbers, but 2 are expected");
  expect_part(error_of([&] { read("the 1 2 3\n"); }), "line 1 has a word and 3 numbers");
  expect_part(error_of([&] { read("the 1 x\n"); }), "line 1: 'x' is no number");
  expect_part(error_of([&] { read("the 1 nan\n"); }), "'nan' is no number");
  expect_part(error_of([&] { read("the 1 1e99\n"); }), "'1e99' is no number");
  expect_part(error_of([&] { width_of_vectors(folder.write("e.txt", "\n")); }), "there are no vectors");
  expect_part(error_of([&] { width_of_vectors(folder.write("e.txt", "a text, no vectors\n")); }), "is no number");
  expect_part(error_of([&] { width_of_vectors(folder / "none.txt"); }), "none.txt");
}

}  // namespace
}  // namespace heed::data
