#include "heed/text/vocabulary.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::text {
namespace {

TokenCounts counts_of(const std::vector<std::string>& tokens) {
  TokenCounts counts;
  for (const auto& token : tokens) counts.add(token);
  return counts;
}

std::vector<std::string> tokens_of(const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  tokens.reserve(static_cast<size_t>(vocabulary.size()));
  for (int32_t id = 0; id < vocabulary.size(); ++id) tokens.push_back(vocabulary.token(id));
  return tokens;
}

TEST(Vocabulary, ByFallingCountThenByBytes) {
  const auto v = Vocabulary::from_counts(counts_of({"b", "a", "c", "c", "\u00E9", "B"}));
  EXPECT_EQ(tokens_of(v), (std::vector<std::string>{"<unk>", "<s>", "</s>", "c", "B", "a", "b", "\u00E9"}));
  EXPECT_EQ(v.id("c"), 3);
  EXPECT_EQ(v.id("\u00E9"), 7);
  EXPECT_EQ(v.id("d"), kUnknown);
  EXPECT_EQ(v.id(""), kUnknown);
}

TEST(Vocabulary, Limits) {
  const auto counts = counts_of({"a", "a", "a", "b", "b", "c"});
  EXPECT_EQ(Vocabulary::from_counts(counts, {.max_size = 4}).size(), 4);
  EXPECT_EQ(Vocabulary::from_counts(counts, {.max_size = 4}).id("b"), kUnknown);
  EXPECT_EQ(Vocabulary::from_counts(counts, {.min_count = 2}).size(), 5);
  EXPECT_EQ(Vocabulary::from_counts(counts, {.max_size = 3}).size(), 3);
  expect_part(error_of([&] { Vocabulary::from_counts(counts, {.max_size = 2}); }), "at least 3 entries, not 2");
}

TEST(Vocabulary, NobodyCanWriteASpecialToken) {
  const auto v = Vocabulary::from_counts(counts_of({"<s>", "</s>", "<unk>", "x"}));
  EXPECT_EQ(v.size(), 4);
  EXPECT_EQ(v.id("</s>"), kUnknown);
  EXPECT_EQ(v.id("<s>"), kUnknown);
}

TEST(Vocabulary, TokenOutside) {
  const auto v = Vocabulary::from_counts({});
  EXPECT_EQ(v.token(kEnd), "</s>");
  expect_part(error_of([&] { v.token(3); }), "there is no token 3: the vocabulary has 3");
  expect_part(error_of([&] { v.token(-1); }), "there is no token -1");
}

TEST(Vocabulary, EveryAwkwardTokenComesBack) {
  const Folder folder;
  std::vector<std::string> awkward = {" ",      "\t",     "\\",     "\\n", "\\\\s",        "a b",
                                      "\u00A0", "\u3000", "\u2028", "#",   "\xEF\xBB\xBF", "<pad>"};
  for (int c = ' '; c < 127; ++c) awkward.emplace_back(1, static_cast<char>(c));
  const auto v = Vocabulary::from_counts(counts_of(awkward));
  v.save(folder / "v.txt");
  const auto again = Vocabulary::load(folder / "v.txt");
  EXPECT_EQ(tokens_of(again), tokens_of(v));
  for (const auto& token : awkward) {
    EXPECT_NE(v.id(token), kUnknown);
    EXPECT_EQ(again.id(token), v.id(token));
  }
  // One token a line: as many newlines as tokens.
  const std::string text = read_file(folder / "v.txt");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), v.size());
  EXPECT_EQ(text.find(' '), std::string::npos);
}

// One of them in an output would end its line, or command a terminal.
TEST(Vocabulary, NoTokenHasAControlCharacter) {
  const std::vector<std::string> controls = {"\n",   "\r",       "\x1B",  "a\x1B[2J", std::string(1, '\0'),
                                             "\x7F", "b\u0085c", "\u009B"};
  for (const std::string& token : controls) {
    EXPECT_EQ(Vocabulary::from_counts(counts_of({token, "x"})).size(), kSpecials + 1);
    EXPECT_EQ(Vocabulary::from_counts(counts_of({token})).id(token), kUnknown);
  }
  const auto error = [](const std::string& line) {
    return error_of([&] { Vocabulary::parse("<unk>\n<s>\n</s>\nok\n" + line + "\n", "v.txt"); });
  };
  for (const char* line : {"\\n", "a\\rb", "\\0", "\x1B[2J", "\x7F", "\u0085"})
    expect_part(error(line), "v.txt, line 5: the token '");
  expect_part(error("a\x1B"), "'a\\x1b' holds a control character, which would break output lines");
}

TEST(Vocabulary, BrokenFiles) {
  const std::string good = "<unk>\n<s>\n</s>\n";
  const auto error = [](const std::string& contents) {
    return error_of([&] { Vocabulary::parse(contents, "v.txt"); });
  };
  EXPECT_EQ(Vocabulary::parse(good + "a\n\\s\n", "v.txt").size(), 5);
  expect_part(error(""), "v.txt: has 0 lines; the first 3 must be <unk>, <s> and </s>");
  expect_part(error("<unk>\n<s>\n"), "has 2 lines");
  expect_part(error("<s>\n<unk>\n</s>\n"), "v.txt, line 1: must be <unk>, but is '<s>'");
  expect_part(error("\xEF\xBB\xBF<unk>\n<s>\n</s>\n"), "line 1");
  expect_part(error(good + "a\n\nb\n"), "v.txt, line 5: the token is empty");
  expect_part(error(good + "a\nb"), "v.txt, line 5: the newline at the end is missing");
  expect_part(error(good + "a\nb\na\n"), "v.txt, line 6: 'a' appears twice, first in line 4");
  expect_part(error(good + "a\n</s>\n"), "v.txt, line 5: '</s>' appears twice, first in line 3");
  expect_part(error(good + "a b\n"), "v.txt, line 4: a blank, tab or other character that must be escaped, at byte 2");
  expect_part(error("<unk>\r\n<s>\r\n</s>\r\n"), "line 1");
  expect_part(error(good + "a\r\n"), "v.txt, line 4");
  expect_part(error(good + "\\x\n"), "v.txt, line 4: a backslash must be followed by");
  expect_part(error(good + "ab\\\n"), "v.txt, line 4: a backslash must be followed by");
  expect_part(error(good + "ok\nab\x80\n"), "v.txt, line 5: not valid UTF-8 at byte 3");
}

TEST(Vocabulary, FilesThatAreNotThere) {
  const Folder folder;
  expect_part(error_of([&] { Vocabulary::load(folder / "none.txt"); }), "No such file");
  expect_part(error_of([&] { Vocabulary::load(folder / "."); }), "it is a folder");
  expect_part(error_of([&] {
                Vocabulary::from_counts({}).save(folder / "none");
                Vocabulary::from_counts({}).save(folder / "none/v.txt");
              }),
              "cannot write");
}

TEST(File, AFullDiskIsNoticed) {
  if (!std::filesystem::exists("/dev/full")) return;
  const Folder folder;
  // The name beside leads to a device that takes nothing.
  std::filesystem::create_symlink("/dev/full", folder / "v.txt.new");
  folder.write("other.txt", "kept");
  expect_part(error_of([&] { write_file(folder / "v.txt", std::string(100000, 'x')); }), "No space left on device");
  EXPECT_FALSE(std::filesystem::exists(folder / "v.txt"));
}

}  // namespace
}  // namespace heed::text
