#include "heed/base/toml_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/fields.h"

namespace heed::test {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// "3: a key of more than 32 parts", or nothing.
std::string excess(const std::string& toml) {
  const auto found = file::excess_of(toml);
  return found ? std::to_string(found->line) + ": " + found->what : "";
}

TEST(TomlLimits, DottedKeys) {
  EXPECT_EQ(excess(repeated("a.", 31) + "a = 1\n"), "");
  EXPECT_EQ(excess(repeated("a.", 32) + "a = 1\n"), "1: a key of more than 32 parts");
  EXPECT_EQ(excess("x = 1\n\n" + repeated("a . ", 200'000) + "a = 1\n"), "3: a key of more than 32 parts");
  EXPECT_EQ(excess(repeated("'a'.", 40) + "a = 1\n"), "1: a key of more than 32 parts");
  EXPECT_EQ(excess("[" + repeated("a.", 40) + "a]\n"), "1: a key of more than 32 parts");
  EXPECT_EQ(excess("[[" + repeated("a.", 40) + "a]]\n"), "1: a key of more than 32 parts");
  EXPECT_EQ(excess("x = {y = 1, " + repeated("a.", 40) + "a = 1}\n"), "1: a key of more than 32 parts");
  EXPECT_EQ(excess(repeated("a", 2000) + " = 1\n"), "1: a key of more than 1024 bytes");
  EXPECT_EQ(excess("[\"" + repeated("a", 2000) + "\"]\n"), "1: a key of more than 1024 bytes");
}

TEST(TomlLimits, Levels) {
  EXPECT_EQ(excess("x = " + repeated("[", 32) + repeated("]", 32)), "");
  EXPECT_EQ(excess("x = " + repeated("[", 33)), "1: lists or tables inside each other, more than 32 levels");
  EXPECT_EQ(excess("x = " + repeated("[\n", 40)), "33: lists or tables inside each other, more than 32 levels");
  EXPECT_EQ(excess("x = " + repeated("{a=", 33)), "1: lists or tables inside each other, more than 32 levels");
  EXPECT_EQ(excess(repeated("[a]\n", 100)), "") << "one after the other";
  EXPECT_EQ(excess(repeated("x = [[1]]\n", 100)), "");
}

TEST(TomlLimits, Numbers) {
  EXPECT_EQ(excess(repeated("a = 1\n", 10'000)), "");
  EXPECT_EQ(excess(repeated("a = 1\n", 10'001)), "10001: more than 10000 keys");
  EXPECT_EQ(excess(repeated("[a]\n", 10'001)), "10001: more than 10000 keys");
  EXPECT_EQ(excess("a = [" + repeated("1, ", 200'001)), "1: more than 200000 values");
}

TEST(TomlLimits, TextsAndCommentsAreNotCounted) {
  const std::string odd = repeated(".[{=,", 50);
  EXPECT_EQ(excess("a = '" + odd + "'\n# " + odd + "\nb = \"\\\"" + odd + "\"\n"), "");
  EXPECT_EQ(excess("a = '''\n" + odd + "'\n'''\nb = \"\"\"\n\\\"\"\"" + odd + "\n\"\"\"\n"), "");
  EXPECT_EQ(excess("a = \"" + repeated("long ", 5000) + "\"\n"), "") << "a value may be long";
  EXPECT_EQ(excess("a = '" + odd + "\nb = 1 # never closed\n"), "");
  EXPECT_EQ(excess("a = {x = \"\"\"b\"\"\"\", " + repeated("a.", 40) + "a = 1}\n"), "1: a key of more than 32 parts")
      << "the text is b and a quote";
  EXPECT_EQ(excess("a = '''\n\n'''\n" + repeated("a.", 40) + "a = 1\n"), "4: a key of more than 32 parts");
}

// Each of these was the end of the process, or took many seconds.
TEST(TomlLimits, RecipesAreRefused) {
  const auto said = [](const std::string& toml, const std::vector<std::string>& overrides = {}) {
    int64_t width = 0;
    file::Fields fields;
    fields.add("model.width", width, "of everything");
    try {
      fields.parse(toml, "r.toml", overrides);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string deep = repeated("a.", 200'000) + "a = 1\n";
  EXPECT_EQ(said(deep), "r.toml:1: a key of more than 32 parts: this is no recipe");
  EXPECT_EQ(said("[" + repeated("a.", 200'000) + "a]\n"), "r.toml:1: a key of more than 32 parts: this is no recipe");
  EXPECT_NE(said("", {"model.width=1\n" + deep}).find(": a key of more than 32 parts"), std::string::npos);
  EXPECT_EQ(file::peek(deep, "model.task"), "");

  std::string many;
  for (int i = 0; i < 200'000; ++i) many += "k" + std::to_string(i) + " = 1\n";
  EXPECT_EQ(said(many), "r.toml:10001: more than 10000 keys: this is no recipe");
  many.resize(many.find("k9000 "));
  const std::string told = said(many);
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 50);
  EXPECT_TRUE(told.starts_with("r.toml:1: unknown key 'k0'; did you mean '")) << told;
  EXPECT_TRUE(told.ends_with("\nr.toml: 8950 more mistakes")) << told;
}

}  // namespace
}  // namespace heed::test
