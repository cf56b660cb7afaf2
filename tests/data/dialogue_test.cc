#include "heed/data/dialogue.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::data {
namespace {

TEST(Dialogue, ContextOfTheLastTurns) {
  const std::vector<Turn> turns = {{false, "one"}, {true, "two"}, {false, "three"}};
  EXPECT_EQ(dialogue_context(turns, 1), "<you> three");
  EXPECT_EQ(dialogue_context(turns, 9), "<you> one <me> two <you> three");
  EXPECT_EQ(dialogue_context({}, 2), "");
}

Pairs read(const std::string& text, int64_t turns, Report& report, int64_t most = 0) {
  const Folder folder;
  return read_pairs({.tsv = folder.write("turns.txt", text), .max_characters = most, .turns = turns}, report);
}

TEST(Dialogue, PairsOfAFile) {
  Report report;
  const Pairs pairs = read("hello\nhi\nhow are you\n\nbye\nso long\n", 2, report);
  EXPECT_EQ(pairs.source, (std::vector<std::string>{"<you> hello", "<me> hello <you> hi", "<you> bye"}));
  EXPECT_EQ(pairs.target, (std::vector<std::string>{"hi", "how are you", "so long"}));
  EXPECT_EQ(pairs.line, (std::vector<int64_t>{2, 3, 6}));
  EXPECT_EQ(report.kept(), 3);
}

TEST(Dialogue, WhoSpeaks) {
  Report report;
  const Pairs pairs = read("ann\thello\nann\tis anybody there\nben\tyes\n", 3, report);
  EXPECT_EQ(pairs.source, (std::vector<std::string>{"<me> hello", "<you> hello <you> is anybody there"}));
}

TEST(Dialogue, BadLines) {
  Report report;
  const Pairs pairs =
      read("hello\nhi\nb\xff\nwhat\nnothing\n\nann\t\nann\tx\nben\tmuch too long for it\n", 1, report, 15);
  EXPECT_EQ(pairs.target, (std::vector<std::string>{"hi", "nothing"}));
  EXPECT_EQ(report.dropped(), 3);
  expect_part(error_of([&] {
                Report other;
                read("alone\n\nalone too\n", 3, other);
              }),
              "has no usable pair");
}

}  // namespace
}  // namespace heed::data
