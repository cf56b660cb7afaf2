#include "heed/data/alignments.h"

#include <fstream>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/data/examples.h"
#include "tests/base/temporary.h"

namespace heed::data {
namespace {

class AlignmentFiles : public testing::Test {
 protected:
  AlignmentFile of(const std::string& content) {
    const std::filesystem::path path = folder_ / "links.txt";
    std::ofstream(path, std::ios::binary) << content;
    return AlignmentFile(path);
  }
  std::string refused(const std::string& content) {
    try {
      of(content);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  heed::test::TemporaryFolder folder_;
};

std::vector<std::pair<int, int>> list(std::span<const AlignmentPoint> links) {
  std::vector<std::pair<int, int>> all;
  for (const AlignmentPoint& link : links) all.emplace_back(link.source, link.target);
  return all;
}

using Pairings = std::vector<std::pair<int, int>>;

TEST_F(AlignmentFiles, LinesAreListsSortedByTarget) {
  const AlignmentFile file = of("2-1 0-0\t1-1  0-0\r\n\n10-3");
  ASSERT_EQ(file.lines(), 3);
  EXPECT_EQ(list(file.checked(1, 3, 2, "tokens")), (Pairings{{0, 0}, {1, 1}, {2, 1}}));
  EXPECT_EQ(list(file.checked(2, 3, 2, "tokens")), Pairings{});
  EXPECT_EQ(list(file.checked(3, 11, 4, "tokens")), (Pairings{{10, 3}}));
}

TEST_F(AlignmentFiles, WhatIsNoLinkIsNamed) {
  for (const char* word : {"1", "1-", "-1", "a-b", "1-2-3", "1--2", "-1-2", "1-2x", "99999999999-1", "1 - 2", "1.5-2"})
    EXPECT_NE(refused("0-0\n0-0 " + std::string(word)).find("line 2: '"), std::string::npos) << word;
  EXPECT_EQ(refused(""), "");
}

TEST_F(AlignmentFiles, LinksOutsideAreNamed) {
  const AlignmentFile file = of("0-0\n2-1");
  for (const auto& [source, target] : Pairings{{2, 2}, {3, 1}}) {
    try {
      file.checked(2, source, target, "words");
      ADD_FAILURE();
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("line 2: the link 2-1 is outside"), std::string::npos) << text;
      EXPECT_NE(text.find("words"), std::string::npos) << text;
    }
  }
}

TEST(AlignedWords, TokensKnowTheirWords) {
  using Words = std::vector<int32_t>;
  const auto words = [](std::vector<std::string> tokens) { return words_of_tokens(tokens); };
  EXPECT_EQ(words({" a", " b", " c"}), (Words{0, 1, 2}));                          // words
  EXPECT_EQ(words({" ab", "c", " d", "e", "f"}), (Words{0, 0, 1, 1, 1}));          // pieces
  EXPECT_EQ(words({"a", "b", " ", "c", " ", " "}), (Words{0, 0, -1, 1, -1, -1}));  // characters
  EXPECT_EQ(words({}), Words{});
}

TEST(AlignedWords, LinksOfWordsAreThoseOfAllTheirTokens) {
  const std::vector<AlignmentPoint> links = {{0, 1}, {1, 0}};
  EXPECT_EQ(list(points_of_tokens(links, std::vector<int32_t>{0, 0, -1, 1}, std::vector<int32_t>{0, 1, 1})),
            (Pairings{{0, 1}, {1, 1}, {0, 2}, {1, 2}, {3, 0}}));
}

TEST(PackedLinks, FollowTheRowsOfTheBatch) {
  Examples examples;
  for (const int32_t length : {2, 3}) {
    const std::vector<int32_t> ids(static_cast<size_t>(length), 5);
    examples.source.add(ids);
    examples.target.add(ids);
    examples.line.push_back(length);
  }
  EXPECT_TRUE(examples.pack(std::vector<int64_t>{0, 1}).targets.aligned_offsets.empty());
  examples.links.add({{1, 0}});
  examples.links.add({{0, 2}, {2, 2}});
  const Targets batch = examples.pack(std::vector<int64_t>{1, 0}).targets;
  EXPECT_EQ(batch.aligned_offsets, (std::vector<int64_t>{0, 0, 0, 2, 2, 3, 3, 3}));
  EXPECT_EQ(batch.aligned_sources, (std::vector<int32_t>{0, 2, 1}));
}

}  // namespace
}  // namespace heed::data
