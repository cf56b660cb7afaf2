// Bodies -> questions: every member with its type and range, and what may be answered together.
#include "heed/serve/question.h"

#include <gtest/gtest.h>

#include <string>

namespace heed::serve {
namespace {

const RequestLimits kLimits{.text = 20, .lines = 3, .beam = 8};

std::string code_of(const std::string& body,
                    Question (*read)(std::string_view, const RequestLimits&) = read_prediction) {
  try {
    read(body, kLimits);
  } catch (const Failure& failure) {
    return std::to_string(failure.status()) + " " + failure.code();
  }
  return "";
}

TEST(Question, HasTheNamesOfHeedPredict) {
  const Question q = read_prediction(
      R"({"model": "m", "input": "a dog", "beam": 4, "nbest": 2, "length_penalty": 0.6, "max_length": 30, "must": "x",
          "must_not": ["y", "z"], "prefix": "p", "no_repeat_ngram": 3, "alignments": "matrix", "scores": true})",
      kLimits);
  EXPECT_EQ(q.model, "m");
  EXPECT_EQ(q.inputs, std::vector<std::string>{"a dog"});
  EXPECT_FALSE(q.several);
  EXPECT_EQ(q.options.beam, 4);
  EXPECT_EQ(q.options.nbest, 2);
  EXPECT_DOUBLE_EQ(q.options.length_penalty, 0.6);
  EXPECT_EQ(q.options.max_length, 30);
  EXPECT_EQ(q.options.must, std::vector<std::string>{"x"});
  EXPECT_EQ(q.options.must_not, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(q.options.prefix, "p");
  EXPECT_EQ(q.options.no_repeat_ngram, 3);
  EXPECT_TRUE(q.options.alignments);
  EXPECT_EQ(q.shown.alignments, predict::AlignmentForm::matrix);
  EXPECT_TRUE(q.shown.token_scores);
  EXPECT_TRUE(q.shown.nbest);
}

TEST(Question, NullIsAsIfItWereNotThere) {
  EXPECT_EQ(read_prediction(R"({"input": "a", "beam": null, "model": null})", kLimits).options.beam, 0);
}

TEST(Question, RefusesWhatItCannotUse) {
  EXPECT_EQ(code_of(""), "400 bad_json");
  EXPECT_EQ(code_of("{"), "400 bad_json");
  EXPECT_EQ(code_of("[]"), "400 bad_json");
  EXPECT_EQ(code_of("{\"input\": \"\xff\"}"), "400 bad_json");
  EXPECT_EQ(code_of("{}"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "inputs": ["b"]})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"inputs": []})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"inputs": ["a", 1]})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"inputs": ["1", "2", "3", "4"]})"), "413 too_many_texts");
  EXPECT_EQ(code_of(R"({"input": "aaaaaaaaaaaaaaaaaaaaa"})"), "413 text_too_long");
  EXPECT_EQ(code_of(R"({"input": "ääääääääääääääääääää"})"), "") << "20 characters, 40 bytes";
  EXPECT_EQ(code_of(R"({"input": "a", "prefix": "aaaaaaaaaaaaaaaaaaaaa"})"), "413 text_too_long");
  EXPECT_EQ(code_of(R"({"input": "a", "bem": 2})"), "400 unknown_member");
  EXPECT_EQ(code_of(R"({"input": "a", "beam": 9})"), "400 beam_too_wide");
  EXPECT_EQ(code_of(R"({"input": "a", "nbest": 9})"), "400 beam_too_wide");
  EXPECT_EQ(code_of(R"({"input": "a", "beam": -1})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "beam": 2.5})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "beam": "2"})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "beam": 99999999999999999999})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "temperature": 0.5})"), "400 bad_member") << "only samples have one";
  EXPECT_EQ(code_of(R"({"input": "a", "sample": true, "temperature": -1})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"input": "a", "alignments": "all"})"), "400 bad_member");
  EXPECT_EQ(code_of(R"({"inputs": ["a"], "stream": true})"), "400 bad_member");
}

TEST(Question, MessagesSayWhatWasExpectedAndWhatCame) {
  try {
    read_prediction(R"({"input": "a", "beam": "wide"})", kLimits);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.message(), "\"beam\" must be a whole number from 0 to 1000, not \"wide\".");
  }
}

TEST(Question, WhatDiffersInAnyOptionIsNotAlike) {
  const std::string plain = read_prediction(R"({"input": "a"})", kLimits).alike;
  EXPECT_NE(plain, "");
  EXPECT_EQ(read_prediction(R"({"input": "another", "scores": true})", kLimits).alike, plain);
  for (const char* option : {R"("beam": 2)",
                             R"("nbest": 2)",
                             R"("length_penalty": 0.5)",
                             R"("mean_score": true)",
                             R"("coverage": 0.1)",
                             R"("max_length": 5)",
                             R"("stride": 5)",
                             R"("iterations": 2)",
                             R"("lengths": 2)",
                             R"("groups": 2)",
                             R"("diversity": 0.1)",
                             R"("no_repeat_ngram": 2)",
                             R"("copy_unknown": true)",
                             R"("allow_unknown": true)",
                             R"("layer": 1)",
                             R"("head": 1)",
                             R"("must": ["a"])",
                             R"("must_not": ["a"])",
                             R"("prefix": "a")",
                             R"("alignments": "links")"})
    EXPECT_NE(read_prediction(std::string(R"({"input": "a", )") + option + "}", kLimits).alike, plain) << option;
  EXPECT_NE(read_prediction(R"({"input": "a", "must": ["a b"]})", kLimits).alike,
            read_prediction(R"({"input": "a", "must": ["a", "b"]})", kLimits).alike);
  EXPECT_EQ(read_prediction(R"({"input": "a", "sample": true})", kLimits).alike, "") << "drawn alone";
  EXPECT_EQ(read_prediction(R"({"input": "a", "stream": true})", kLimits).alike, "");
}

TEST(Question, SamplesDifferUnlessASeedIsGiven) {
  const auto seed = [](const char* body) { return read_prediction(body, kLimits).options.seed; };
  EXPECT_NE(seed(R"({"input": "a", "sample": true})"), seed(R"({"input": "a", "sample": true})"));
  EXPECT_EQ(seed(R"({"input": "a", "sample": true, "seed": 7})"), 7U);
}

TEST(Question, PairsToScore) {
  const ScoreQuestion one = read_score(R"({"source": "a", "target": "b"})", kLimits);
  EXPECT_FALSE(one.several);
  EXPECT_EQ(one.pairs.front().target, "b");
  const ScoreQuestion two = read_score(R"({"pairs": [{"target": "x"}, {"source": "a", "target": "b"}]})", kLimits);
  EXPECT_TRUE(two.several);
  EXPECT_EQ(two.pairs[1].source, "a");
  for (const char* body :
       {R"({"source": "a"})", R"({"pairs": []})", R"({"pairs": [1]})", R"({"pairs": [{"target": "a", "tagret": "b"}]})",
        R"({"pairs": [{"target": "a"}], "target": "b"})"})
    EXPECT_THROW(read_score(body, kLimits), Failure) << body;
}

TEST(Question, CompletionsAsOpenAiHasThem) {
  const CompletionQuestion q =
      read_completion(R"({"model": "m", "prompt": "Once", "max_tokens": 5, "temperature": 0, "stop": ["\n"],
                          "presence_penalty": 0, "user": "u", "logprobs": 1})",
                      kLimits);
  EXPECT_EQ(q.prompts, std::vector<std::string>{"Once"});
  EXPECT_EQ(q.options.max_length, 5);
  EXPECT_FALSE(q.options.sample) << "a temperature of 0 asks for the likeliest";
  EXPECT_TRUE(q.log_probabilities);
  EXPECT_EQ(q.stops, std::vector<std::string>{"\n"});
  const CompletionQuestion plain = read_completion(R"({"prompt": ["a", "b"], "n": 3})", kLimits);
  EXPECT_TRUE(plain.options.sample);
  EXPECT_EQ(plain.options.max_length, 16);
  EXPECT_EQ(plain.options.nbest, 3);
  EXPECT_THROW(read_completion(R"({"prompt": "a", "n": 2, "temperature": 0})", kLimits), Failure);
  EXPECT_THROW(read_completion(R"({"prompt": "a", "n": 9})", kLimits), Failure);
  EXPECT_THROW(read_completion(R"({"prompt": ["a", "b"], "stream": true})", kLimits), Failure);
  EXPECT_THROW(read_completion(R"({"prompt": "a", "stop": ["1", "2", "3", "4", "5"]})", kLimits), Failure);
}

}  // namespace
}  // namespace heed::serve
