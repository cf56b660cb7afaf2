#include "heed/base/json.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <string>

#include "heed/base/error.h"

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

TEST(Json, IsWrittenAsItAlwaysWas) {
  const Json json = Json::object({{"a", Json::array({Json(), true, -1, 2u, 0.1, 1e300, 3.0, 1.0f / 3.0f})},
                                  {"text", "\"\\/\b\f\n\r\t\x01\x7f \u00e4\u2028"},
                                  {"none", Json::object()},
                                  {"empty", Json::array()},
                                  {"infinite", std::numeric_limits<double>::infinity()},
                                  {"inside", Json::object({{"b", Json::array({1, Json::array({2})})}})}});
  EXPECT_EQ(json.line(),
            "{\"a\":[null,true,-1,2,0.1,1e+300,3.0,0.3333333432674408],"
            "\"text\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f \u00e4\u2028\",\"none\":{},\"empty\":[],\"infinite\":null,"
            "\"inside\":{\"b\":[1,[2]]}}");
  EXPECT_EQ(Json::object({{"b", Json::array({1, Json::object({{"c", "d"}})})}, {"e", Json::array()}}).text(2),
            "{\n  \"b\": [\n    1,\n    {\n      \"c\": \"d\"\n    }\n  ],\n  \"e\": []\n}");
  EXPECT_EQ(Json("a\xff\xc3"
                 "b")
                .line(),
            "\"a\uFFFD\uFFFDb\"");
  EXPECT_THROW(Json("\xff").text(), Error);
  Json copy = json;
  copy["a"] = 1;
  EXPECT_NE(copy.line(), json.line());
  copy = json;
  EXPECT_EQ(copy.line(), json.line());
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
