#include "heed/task/language_model/texts.h"

#include "heed/base/error.h"
#include "tests/base/folder.h"

namespace heed::task::test {
namespace {

struct HeldOut {
  int64_t trained = 0, held_out = 0;  // characters, with an end for each line
};

HeldOut held_out_of(const std::string& text, const std::string& documents, double share = 0) {
  const Folder folder;
  data::Options options;
  options.train.source = folder.write("text.txt", text);
  options.documents = documents;
  options.held_out = share;
  options.source.kind = "characters";
  RawTextCorpus texts(options, 1);
  const Vocabularies vocabularies = texts.learn_vocabularies(options, nullptr);
  model::Options model;
  model.context = 8;
  const Corpus corpus = texts.encode(vocabularies, options, model);
  return {corpus.train->characters(), corpus.valid->characters()};
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(RawTextCorpus, OfASingleLineTheLastTenthIsHeldOut) {
  for (const char* documents : {"file", "line", "blank_line"}) {
    SCOPED_TRACE(documents);
    for (const char* end : {"", "\n"}) {
      const HeldOut found = held_out_of(repeated("abcd ", 40) + end, documents);
      EXPECT_EQ(found.trained, 180 + 1);
      EXPECT_EQ(found.held_out, 20 + 1);
    }
  }
  EXPECT_EQ(held_out_of(repeated("abcd ", 40), "file", 0.5).held_out, 100 + 1);
  // Words stay whole; a text without blanks is cut at the letter; letters of several bytes stay whole too.
  EXPECT_EQ(held_out_of(repeated("abcd efghi ", 21), "file").trained, 203 + 1);
  EXPECT_EQ(held_out_of(repeated("abcde", 40), "file").trained, 180 + 1);
  EXPECT_EQ(held_out_of(repeated("äöü", 50), "file").trained, 135 + 1);
}

TEST(RawTextCorpus, OfFewLongLinesTheEndOfTheLastIsHeldOut) {
  const HeldOut found = held_out_of("ab\n" + repeated("abcd ", 40), "file");
  EXPECT_EQ(found.trained + found.held_out, 3 + 200 + 2);
  EXPECT_NEAR(static_cast<double>(found.held_out), 20, 5);
}

TEST(RawTextCorpus, OfManyLinesTheLastAreHeldOut) {
  const HeldOut found = held_out_of(repeated("abcd\n", 40), "file");
  EXPECT_EQ(found.trained, 180);
  EXPECT_EQ(found.held_out, 20);
}

TEST(RawTextCorpus, TooLittleIsRefused) {
  for (const char* text : {"a", "only words\n", "ab\na longer line\n"}) try {
      held_out_of(text, "file");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("data.valid_text"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace heed::task::test
