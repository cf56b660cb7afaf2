#include "heed/data/lines.h"

#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "tests/base/folder.h"
#include "tests/data/gzip.h"

namespace heed::data {
namespace {

using Lines = std::vector<std::string>;

Lines all_lines(const std::filesystem::path& path) {
  LineReader reader(path);
  EXPECT_EQ(reader.number(), 0);
  Lines lines;
  std::string line;
  while (reader.next(line)) {
    lines.push_back(line);
    EXPECT_EQ(reader.number(), static_cast<int64_t>(lines.size()));
  }
  EXPECT_FALSE(reader.next(line));
  return lines;
}

struct Case {
  const char* name;
  std::string contents;
  Lines lines;
};

std::vector<Case> cases() {
  const std::string x(1'000'000, 'x'), y(262'144, 'y');
  return {
      {"empty", "", {}},
      {"one", "a\n", {"a"}},
      {"no newline at the end", "a\nb", {"a", "b"}},
      {"empty lines", "\n\na\n\n", {"", "", "a", ""}},
      {"Windows", "a\r\n\r\nb\r\n", {"a", "", "b"}},
      {"Windows, no newline at the end", "a\r\nb\r", {"a", "b"}},
      {"carriage return inside", "a\rb\n", {"a\rb"}},
      {"only the last carriage return goes", "a\r\r\n", {"a\r"}},
      {"byte order mark", "\uFEFFa\n\uFEFFz\n", {"a", "\uFEFFz"}},
      {"zero byte", std::string("a\0b\n", 4), {std::string("a\0b", 3)}},
      {"not UTF-8", "\xFF\xFA\n\x80", {"\xFF\xFA", "\x80"}},
      {"other ends of line are text", "a\x0B\x0C\u0085\u2028z\n", {"a\x0B\x0C\u0085\u2028z"}},
      {"long", fmt::format("{}\n{}\nz", x, y), {x, y, "z"}},
  };
}

TEST(Lines, PlainAndGzip) {
  const Folder folder;
  for (const Case& c : cases()) {
    EXPECT_EQ(all_lines(folder.write("plain", c.contents)), c.lines) << c.name;
    EXPECT_EQ(all_lines(folder.write("gzip", gzip(c.contents))), c.lines) << c.name << ", gzip";
  }
}

TEST(Lines, EveryCutOfABufferIsSeamless) {
  const Folder folder;
  text::Random random(1);
  for (int round = 0; round < 20; ++round) {
    Lines lines;
    std::string text;
    while (text.size() < 600'000) {
      lines.emplace_back(random.below(50'000), static_cast<char>('a' + random.below(26)));
      text += lines.back() + (random.chance(50) ? "\r\n" : "\n");
    }
    EXPECT_EQ(all_lines(folder.write("plain", text)), lines);
  }
}

TEST(Lines, SeveralGzipFilesInOne) {
  const Folder folder;
  EXPECT_EQ(all_lines(folder.write("two.gz", gzip("a\nb") + gzip("c\nd\n"))), (Lines{"a", "bc", "d"}));
}

TEST(Lines, NoFile) {
  const Folder folder;
  expect_part(error_of([&] { LineReader reader(folder / "none.txt"); }), "none.txt: No such file or directory");
  expect_part(error_of([&] { LineReader reader(folder / "."); }), "it is a folder");
}

TEST(Lines, DamagedGzip) {
  const Folder folder;
  std::string text;
  text::Random random(2);
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{} {}\n", i, random.next());
  const std::string whole = gzip(text);
  const Lines lines = all_lines(folder.write("a.gz", whole));
  EXPECT_EQ(lines.size(), 20'000u);

  const auto error = [&](const std::string& contents) {
    folder.write("b.gz", contents);
    return error_of([&] { all_lines(folder / "b.gz"); });
  };
  for (const size_t n : {size_t{3}, size_t{9}, size_t{15}, whole.size() / 2, whole.size() - 8, whole.size() - 1})
    expect_part(error(whole.substr(0, n)), "the gzip file is cut off");
  expect_part(error(whole.substr(0, whole.size() / 2)), "b.gz after line ");
  std::string damaged = whole;
  for (size_t i = 0; i < 16; ++i) damaged[whole.size() / 2 + i] = '\0';
  expect_part(error(damaged), "the gzip file is damaged");
  damaged = whole;
  damaged[whole.size() - 6] ^= 1;  // the checksum
  expect_part(error(damaged), "the gzip file is damaged");
}

TEST(Lines, ADiskThatCannotBeRead) {
  // The first page of a process is never mapped: reading it fails as a broken disk does.
  ASSERT_TRUE(std::filesystem::exists("/proc/self/mem"));
  expect_part(error_of([] { all_lines("/proc/self/mem"); }), "Input/output error");
}

TEST(Lines, FromAPipe) {
  const Folder folder;
  const auto path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs("a\nb\n", file);
    std::fclose(file);
  });
  EXPECT_EQ(all_lines(path), (Lines{"a", "b"}));
  writer.join();
}

// What programs of Windows write: with a mark at the beginning or without, both ways round.
TEST(Lines, Utf16IsNamedWithTheWayOut) {
  const Folder folder;
  for (const std::string_view bytes :
       {std::string_view("\xFF\xFE"
                         "a\0\t\0",
                         6),
        std::string_view("\xFE\xFF\0a\0\t", 6), std::string_view("a\0b\0\n\0", 6), std::string_view("\0a\0b\0\n", 6)}) {
    folder.write("w.txt", std::string(bytes));
    expect_part(error_of([&] { all_lines(folder / "w.txt"); }),
                "is UTF-16, but UTF-8 is needed. To convert it: iconv -f UTF-16");
  }
}

TEST(Lines, NoText) {
  const Folder folder;
  // 65 MiB without a newline, which gzip makes small.
  folder.write("zeros.gz", gzip(std::string(size_t{65} << 20, '\0')));
  expect_part(error_of([&] { all_lines(folder / "zeros.gz"); }), "line 1 has more than 64 MiB; is this a text file?");
}

}  // namespace
}  // namespace heed::data
