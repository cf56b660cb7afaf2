#include "heed/data/pairs.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "tests/base/folder.h"
#include "tests/data/gzip.h"

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

TEST(Pairs, TwoFiles) {
  const Folder folder;
  const auto source = folder.write("a.txt", "eins\nzwei\r\n drei ");
  const auto target = folder.write("b.txt.gz", gzip("one\ntwo\nthree\n"));
  Report report;
  const Pairs pairs = read_pairs({.source = source, .target = target}, report);
  EXPECT_EQ(pairs.source, (Texts{"eins", "zwei", " drei "}));
  EXPECT_EQ(pairs.target, (Texts{"one", "two", "three"}));
  EXPECT_EQ(pairs.line, (Numbers{1, 2, 3}));
  EXPECT_EQ(report.kept(), 3);
  EXPECT_EQ(report.dropped(), 0);
  EXPECT_EQ(report.text(), "");
}

TEST(Pairs, BadLinesAreNamedAndLeaveBothSides) {
  const Folder folder;
  const auto source = folder.write("a", "s1\ns\xFF\ns3\n\ns5\ns6\n1234567\ns8\n");
  const auto target = folder.write("b", "t1\nt2\n \t\nt4\nt\xC3\nt6\nt7\n\u00E4\u00E4\u00E4\u00E4\u00E4\u00E4\u00E4\n");
  Report report;
  const Pairs pairs = read_pairs({.source = source, .target = target, .max_characters = 6}, report);
  EXPECT_EQ(pairs.source, (Texts{"s1", "s6"}));
  EXPECT_EQ(pairs.target, (Texts{"t1", "t6"}));
  EXPECT_EQ(pairs.line, (Numbers{1, 6}));
  EXPECT_EQ(report.kept(), 2);
  EXPECT_EQ(report.text(),
            "6 of 8 lines left out\n"
            "  2 invalid UTF-8: 2 (source, byte 2), 5 (target, byte 2)\n"
            "  2 an empty side: 3 (target), 4 (source)\n"
            "  2 too long: 7 (source, 7 characters), 8 (target, 7 characters)\n");
}

TEST(Pairs, OtherSeparatorsAreNamedWithTheWayOut) {
  const Folder folder;
  const auto error = [&](const std::string& text) -> std::string {
    Report report;
    try {
      read_pairs({.tsv = folder.write("a.csv", text)}, report);
    } catch (const Error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_NE(error("one,eins\ntwo,zwei\n").find("separated by ','; a tab is needed"), std::string::npos);
  EXPECT_NE(error("one;eins\ntwo;zwei\n").find("delimiter=\";\""), std::string::npos);
  EXPECT_NE(error("one eins\n").find("A line is a source, a tab and a target"), std::string::npos);
  EXPECT_EQ(error("one\t\n").find("tab"), std::string::npos);  // another fault
}

TEST(Pairs, AHeaderIsSeenAndTold) {
  const Folder folder;
  const auto tsv = folder.write("a.tsv", "word\tipa\ncat\tk\u00E6t\ndog\td\u0252\u0261\n");
  Report report;
  const Pairs found = read_pairs({.tsv = tsv}, report);
  EXPECT_EQ(found.source, (Texts{"cat", "dog"}));
  EXPECT_EQ(found.line, (Numbers{2, 3}));
  EXPECT_EQ(report.kept(), 2);
  EXPECT_EQ(report.headers(), 1);
  EXPECT_EQ(report.dropped(), 0);
  EXPECT_EQ(report.text(),
            "line 1 ('word', 'ipa') names the columns, and is left out: data.header = false keeps it as a pair\n");
  Report kept, forced;
  EXPECT_EQ(read_pairs({.tsv = tsv, .header = false}, kept).source, (Texts{"word", "cat", "dog"}));
  EXPECT_EQ(kept.text(), "");
  EXPECT_EQ(read_pairs({.tsv = folder.write("b.tsv", "1\t2\n3\t4\n"), .header = true}, forced).line, (Numbers{2}));
  EXPECT_EQ(forced.text(), "");
  EXPECT_EQ(forced.headers(), 1);
  const auto one = folder.write("one", "source\neins\n"), two = folder.write("two", "target\none\n");
  for (const std::optional<bool> header : {std::optional<bool>(), std::optional(true)}) {
    Report both;
    EXPECT_EQ(read_pairs({.source = one, .target = two, .header = header}, both).source, (Texts{"eins"}));
    EXPECT_EQ(both.headers(), 1);
  }
  // Of several columns, those that are used.
  Report chosen;
  const auto wide = folder.write("wide.tsv", "nr\tTextEN\t?\tlabel\n1\ta b\t!\tc\n2\td e\t!\tf\n");
  EXPECT_EQ(read_pairs({.tsv = wide, .source_column = 2, .target_column = 4}, chosen).source, (Texts{"a b", "d e"}));
  // It may be one: told, but kept.
  Report asked;
  EXPECT_EQ(read_pairs({.tsv = folder.write("c.tsv", "word\tsaid\ncat\tk\u00E6t\n")}, asked).size(), 2);
  expect_part(asked.text(), "line 1 ('word', 'said') may be a header, but is used as a pair: data.header = true");
}

TEST(Pairs, Tsv) {
  const Folder folder;
  const auto tsv = folder.write("a.tsv.gz", gzip("WORD\tW ER D\nONE\nTWO\tT UW\tnote\n\nTHREE\tTH R IY\r\n\tX\n"));
  Report report;
  const Pairs pairs = read_pairs({.tsv = tsv}, report);
  EXPECT_EQ(pairs.source, (Texts{"WORD", "TWO", "THREE"}));
  EXPECT_EQ(pairs.target, (Texts{"W ER D", "T UW", "TH R IY"}));
  EXPECT_EQ(pairs.line, (Numbers{1, 3, 5}));
  EXPECT_EQ(report.text(),
            "3 of 6 lines left out\n"
            "  2 wrong number of columns: 2 (1 instead of at least 2), 4 (1 instead of at least 2)\n"
            "  1 an empty side: 6 (source)\n");
}

TEST(Pairs, ColumnsCanBeChosen) {
  const Folder folder;
  const auto tsv = folder.write("a.tsv", "1\tx\ty\n2\tx2\n3\tx3\ty3\tz\n");
  Report report;
  const Pairs pairs = read_pairs({.tsv = tsv, .source_column = 3, .target_column = 1, .columns = 3}, report);
  EXPECT_EQ(pairs.source, (Texts{"y"}));
  EXPECT_EQ(pairs.target, (Texts{"1"}));
  expect_part(report.text(), "2 (2 instead of 3), 3 (4 instead of 3)");
  // The unused columns may hold anything.
  const auto wild = folder.write("b.tsv", "a\tb\t\xFF\n");
  Report other;
  EXPECT_EQ(read_pairs({.tsv = wild}, other).size(), 1);
}

TEST(Pairs, UnequalFiles) {
  const Folder folder;
  const auto three = folder.write("three.txt", "a\nb\nc\n"), five = folder.write("five.txt", "a\nb\nc\nd\n\n");
  for (const bool swap : {false, true}) {
    Report report;
    const std::string error =
        error_of([&] { read_pairs({.source = swap ? five : three, .target = swap ? three : five}, report); });
    expect_part(error, "three.txt has 3");
    expect_part(error, "five.txt has 5");
    expect_part(error, "not parallel");
  }
}

TEST(Pairs, Mistakes) {
  const Folder folder;
  Report report;
  const auto a = folder.write("a", "x\n"), empty = folder.write("empty", ""), blank = folder.write("blank", "\n");
  expect_part(error_of([&] { read_pairs({}, report); }), "either two files");
  expect_part(error_of([&] { read_pairs({.source = a, .target = a, .tsv = a}, report); }), "either two files");
  expect_part(error_of([&] { read_pairs({.source = a}, report); }), "the target file is missing");
  expect_part(error_of([&] { read_pairs({.target = a}, report); }), "the source file is missing");
  expect_part(error_of([&] { read_pairs({.tsv = a, .source_column = 0}, report); }), "columns are counted from 1");
  expect_part(error_of([&] { read_pairs({.tsv = a, .target_column = 3, .columns = 2}, report); }), "column 3");
  expect_part(error_of([&] { read_pairs({.tsv = folder / "none"}, report); }), "No such file");
  expect_part(error_of([&] { read_pairs({.tsv = empty}, report); }), "has no usable pair");
  Report other;
  expect_part(error_of([&] { read_pairs({.source = a, .target = blank}, other); }), "1 an empty side: 1 (target)");
}

TEST(Pairs, ManyBadLinesAreCountedNotNamed) {
  const Folder folder;
  std::string source, target;
  for (int i = 0; i < 1000; ++i) {
    source += "s\n";
    target += i < 900 ? "\n" : "t\n";
  }
  Report report;
  const auto a = folder.write("a", source), b = folder.write("b", target);
  EXPECT_EQ(read_pairs({.source = a, .target = b}, report).size(), 100);
  EXPECT_EQ(report.count(Fault::empty), 900);
  EXPECT_EQ(report.lines(Fault::empty).size(), Report::kNamed);
  expect_part(report.text(), "10 (target), ...");
}

/// Random damage on both sides: what is left still belongs together.
TEST(Pairs, NeverShift) {
  const Folder folder;
  text::Random random(9);
  for (int round = 0; round < 50; ++round) {
    std::string source, target;
    Numbers good;
    for (int64_t i = 1; i <= 200; ++i) {
      const uint64_t left = random.below(6), right = random.below(6);
      const auto text = [i](uint64_t kind) {
        return kind == 0 ? std::string() : kind == 1 ? std::string("\xC0\n", 1) : fmt::format("{}", i);
      };
      source += text(left) + (random.chance(50) ? "\r\n" : "\n");
      target += text(right) + (random.chance(50) ? "\r\n" : "\n");
      if (left > 1 && right > 1) good.push_back(i);
    }
    const auto a = folder.write("a", source), b = folder.write("b", gzip(target));
    Report report;
    const Pairs pairs = read_pairs({.source = a, .target = b}, report);
    EXPECT_EQ(pairs.line, good);
    EXPECT_EQ(pairs.source, pairs.target);
    for (size_t i = 0; i < good.size(); ++i) ASSERT_EQ(pairs.source[i], fmt::format("{}", good[i]));
    EXPECT_EQ(report.kept() + report.dropped(), 200);
  }
}

TEST(Pairs, References) {
  Pairs pairs;
  pairs.add("b", "2", 1);
  pairs.add("a", "1", 3);
  pairs.add("b", "1", 4);
  pairs.add("b", "2", 5);
  pairs.add("B", "9", 6);
  const References groups = group_references(pairs);
  EXPECT_EQ(groups.source, (Texts{"b", "a", "B"}));
  EXPECT_EQ(groups.targets, (std::vector<Texts>{{"2", "1"}, {"1"}, {"9"}}));
  EXPECT_EQ(groups.line, (Numbers{1, 3, 6}));
}

TEST(Pairs, Sentences) {
  Pairs pairs;
  pairs.add("a", "x", 1);
  pairs.add("b", "y", 2);
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(sentences(pairs, Side::source), (Views{"a", "b"}));
  EXPECT_EQ(sentences(pairs, Side::target), (Views{"x", "y"}));
  EXPECT_EQ(sentences(pairs, Side::both), (Views{"a", "b", "x", "y"}));
}

}  // namespace
}  // namespace heed::data
