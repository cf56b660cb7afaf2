// What is a header, and what only looks like one.
#include "heed/data/header.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/data/pairs.h"

namespace heed::data {
namespace {

HeaderWatch watch_of(const std::vector<std::string>& lines) {
  HeaderWatch watch;
  int64_t number = 0;
  for (const std::string& line : lines) watch.see(++number, columns_of(line));
  return watch;
}

TEST(Header, WhatPeopleCallTheirColumns) {
  for (const char* line : {"word\tipa",
                           "Word\tIPA",
                           "source\ttarget",
                           "src\ttgt",
                           "text\tlabel",
                           "sentence1\tsentence2\tlabel",
                           "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
                           "en\tde",
                           "eng\tdeu",
                           "English\tGerman",
                           "question\tanswer",
                           "input\toutput",
                           "id\ttext\tsentiment",
                           "premise\thypothesis\tlabel",
                           "# word\tpronunciation",
                           "\xEF\xBB\xBFword\tipa",
                           "source_text\ttarget_text",
                           "sourceText\ttargetText",
                           "word (en)\tword (de)",
                           "\"text\"\t\"label\"",
                           "lemma\tform",
                           "image\tcaption",
                           "orthography\tphonemes",
                           "x\ty",
                           "English\tipa"})
    EXPECT_TRUE(watch_of({line, "1\t2\t3", "4\t5\t6"}).first_is_header()) << line;
}

TEST(Header, WhatIsData) {
  for (const char* line : {"cat\tk\u00E6t", "word\tw \u025C\u02D0 d", "WORD\tW ER D", "input\teingabe", "text\tText",
                           "name\tname", "it\tword", "en\tEnglish", "1\t2", "source", "12 May 1984\t1984-05-12",
                           "the word\tthe text is long", "\ttarget", "question?\tanswer!"})
    EXPECT_FALSE(watch_of({line, "1\t2\t3", "4\t5\t6"}).first_is_header()) << line;
}

TEST(Header, AWordListMayHoldSuchLines) {
  EXPECT_FALSE(watch_of({"question\tanswer", "source\ttarget", "cat\tdog"}).first_is_header());
  EXPECT_FALSE(watch_of({"en\tde", "fr\tit", "es\tpt"}).first_is_header());
  EXPECT_FALSE(watch_of({"word\tterm", "cat\tpet", "word\tname"}).first_is_header()) << "the source comes again";
  EXPECT_FALSE(watch_of({"word\tipa"}).first_is_header()) << "nothing follows";
}

TEST(Header, UnknownNamesBeforeTextsWithLabels) {
  std::vector<std::string> lines = {"kommentar\tstimmung"};
  for (int i = 0; i < 40; ++i)
    lines.push_back("das war heute ein guter Film\t" + std::string(i % 2 ? "gut" : "schlecht"));
  EXPECT_TRUE(watch_of(lines).first_is_header());
  lines.front() = "Toll\tgut";
  EXPECT_FALSE(watch_of(lines).first_is_header()) << "a label like the others";
  lines.front() = "ein schlechter Film\tmies";
  EXPECT_FALSE(watch_of(lines).first_is_header()) << "a text like the others";
  for (std::string& line : lines) line = line.substr(line.rfind(' ') + 1);
  lines.front() = "kommentar\tstimmung";
  EXPECT_FALSE(watch_of(lines).first_is_header()) << "single words everywhere";
}

TEST(Header, WithoutLineOneThereIsNone) {
  HeaderWatch watch;
  watch.see(2, columns_of("word\tipa"));
  watch.see(3, columns_of("cat\tpet"));
  EXPECT_FALSE(watch.first_is_header());
  EXPECT_FALSE(watch.first_may_be_header());
}

}  // namespace
}  // namespace heed::data
