#include "heed/file/json.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace heed::test {
namespace {

using file::Json;

std::string times(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

double seconds_of(const auto& action) {
  const std::clock_t begin = std::clock();  // of this process: the machine may be busy
  action();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Json, EverythingComesBack) {
  const std::string text = R"({"a":[1,-2,2.5,"x\n",true,null,[],{}],"b":{"c":18446744073709551615}})";
  const std::optional<Json> json = Json::parse(text);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->text(), text);
  EXPECT_EQ(Json::parse("3")->text(), "3");
}

TEST(Json, WhatIsNoJson) {
  using namespace std::string_literals;
  for (const std::string& text : {""s, "{"s, "[1,]"s, "{\"a\":1}}"s, "[1] 2"s, "\"\xff\""s, "1e999"s, "nan"s, "[1]\0"s,
                                  "[1\0]"s, "{\"a\"}"s, "{1:2}"s})
    EXPECT_FALSE(Json::parse(text).has_value()) << text;
}

TEST(Json, OfMembersWithTheSameNameTheLastCounts) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":[3],"c":4,"b":5})")->text(), R"({"a":[3],"b":5,"c":4})");
}

TEST(Json, BracketsDoNotFillTheStack) {
  for (const char* open : {"[", "{\"a\":", "[{\"a\":"}) {
    EXPECT_FALSE(Json::parse(times(open, 200'000)).has_value());
  }
  EXPECT_FALSE(Json::parse(times("[", 200'000) + times("]", 200'000)).has_value());
  EXPECT_FALSE(Json::parse(times("[", Json::kDeepest + 1) + times("]", Json::kDeepest + 1)).has_value());
  EXPECT_TRUE(Json::parse(times("[", Json::kDeepest) + times("]", Json::kDeepest)).has_value());
  EXPECT_TRUE(Json::parse("[" + times("[1],", 100'000) + "[1]]").has_value());  // wide is not deep
}

TEST(Json, ManyMembersTakeNoLonger) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"name" + std::to_string(i % 150'000) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  std::optional<Json> json;
  EXPECT_LT(seconds_of([&] { json = Json::parse(text); }), 5.0);  // two names at a time: minutes
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->as<Json::Members>()->size(), 150'000u);
  EXPECT_EQ(*json->as<Json::Members>()->front().second.as<uint64_t>(), 150'000u);
}

}  // namespace
}  // namespace heed::test
