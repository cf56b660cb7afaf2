// Lines that are answered by a task of a few lines: what answer_lines() does, whatever the task.
#include "heed/task/answer.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::task {
namespace {

class NoModel final : public model::Model {
 public:
  model::Loss loss(Tape&, const data::Batch&, const OutputLossOptions&) const override {
    throw Error("this model learns nothing");
  }
  int64_t max_positions() const override { return 100; }
};

/// Says each line's bytes again, with its number. "!" cannot be read, "?" fails whatever it is answered with.
class Echo final : public Answerer {
 public:
  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    ReadLine read;
    for (const char c : line) read.tokens.push_back(c);
    read.is_empty = line.empty();
    if (line == "!") read.error = "an exclamation mark";
    if (told) told->source_tokens.emplace_back(line);
    models_read.push_back(&model);
    return read;
  }
  RulesOfLine rules_of(size_t line) override {
    return line == forbidden ? RulesOfLine{.error = "forbidden"} : RulesOfLine{};
  }
  void answer(const data::Sources& sources, std::span<const PendingLine> lines) const override {
    calls.push_back(lines.size());
    for (const PendingLine& line : lines) {
      expect(line.text != "?", "a question mark");
      std::string text;
      for (const int32_t token : sources[line.source].tokens) text += static_cast<char>(token);
      line.answer->nbest = {{.text = text, .score = static_cast<double>(line.number)}};
    }
  }

  size_t forbidden = 1000;
  mutable std::vector<size_t> calls;
  mutable std::vector<const LoadedModel*> models_read;
};

struct Asked {
  NoModel model;
  Vocabularies none;
  Description description;
  search::TapePool tapes;
  LoadedModel answering{.model = model, .vocabularies = none, .description = description, .tapes = tapes};
};

TEST(AnswerLines, AreInTheirOrderAndNumbered) {
  const Asked asked;
  Echo echo;
  const std::vector<std::string> lines = {"a", "", "b\r\n", "\xff", "!", "c"};
  const std::vector<Prediction> said = answer_lines(asked.answering, lines, 7, echo);
  ASSERT_EQ(said.size(), 6u);
  EXPECT_EQ(said[0].text(), "a");
  EXPECT_EQ(said[0].nbest[0].score, 7.0);
  EXPECT_TRUE(said[1].nbest.empty());
  EXPECT_EQ(said[1].error, "") << "an empty line is no mistake";
  EXPECT_EQ(said[2].text(), "b");
  EXPECT_NE(said[3].error, "");
  EXPECT_EQ(said[4].error, "an exclamation mark");
  EXPECT_EQ(said[5].text(), "c");
  EXPECT_EQ(said[5].nbest[0].score, 12.0);
  EXPECT_EQ(echo.calls, std::vector<size_t>{3}) << "all that could be read, together";
}

TEST(AnswerLines, OneThatFailsDoesNotFailTheOthers) {
  const Asked asked;
  Echo echo;
  const std::vector<std::string> lines = {"a", "?", "b"};
  const std::vector<Prediction> said = answer_lines(asked.answering, lines, 1, echo);
  EXPECT_EQ(said[0].text(), "a");
  EXPECT_EQ(said[1].error, "a question mark");
  EXPECT_EQ(said[2].text(), "b");
  EXPECT_EQ(echo.calls, (std::vector<size_t>{3, 1, 1, 1}));
}

TEST(AnswerLines, RulesThatCannotBeKeptAreTheLinesOwn) {
  const Asked asked;
  Echo echo;
  echo.forbidden = 0;
  const std::vector<std::string> lines = {"a", "b"};
  const std::vector<Prediction> said = answer_lines(asked.answering, lines, 1, echo);
  EXPECT_EQ(said[0].error, "forbidden");
  EXPECT_EQ(said[0].source_tokens, std::vector<std::string>{"a"});
  EXPECT_EQ(said[1].text(), "b");
}

TEST(AnswerLines, AreReadByEachModelOfAnEnsemble) {
  Asked asked, second;
  asked.answering.others.push_back(second.answering);
  Echo echo;
  const std::vector<std::string> lines = {"!", "a"};
  answer_lines(asked.answering, lines, 1, echo);
  ASSERT_EQ(echo.models_read.size(), 3u) << "the second does not read what the first cannot";
  EXPECT_EQ(echo.models_read[1], &asked.answering);
  EXPECT_EQ(echo.models_read[2], asked.answering.others.data());

  data::Sources sources = no_sources(asked.answering);
  add_source(sources, read_for_all(echo, "xy", asked.answering, nullptr));
  ASSERT_EQ(sources.others.size(), 1u);
  EXPECT_EQ(sources.others[0].tokens.length(0), 2);
}

}  // namespace
}  // namespace heed::task
