#include "heed/text/segments.h"

#include <gtest/gtest.h>

#include "heed/text/tokeniser.h"

namespace heed::text {
namespace {

using Words = std::vector<std::string>;

TEST(Segments, Words) {
  EXPECT_EQ(unicode_words_of("It's GREAT, isn't it?"), (Words{"it's", "great", ",", "isn't", "it", "?"}));
  EXPECT_EQ(unicode_words_of("a<br /><br />b </p> c < d > e"), (Words{"a", "b", "c", "<", "d", ">", "e"}));
  EXPECT_EQ(unicode_words_of("ÄRGER 3.5 Straße"), (Words{"ärger", "3.5", "straße"}));
  EXPECT_EQ(unicode_words_of(""), Words{});
  EXPECT_EQ(unicode_words_of(" \t \n"), Words{});
  EXPECT_EQ(unicode_words_of("<").size(), 1u);
}

TEST(Segments, Sentences) {
  const auto all = sentences_of("It rains. Does it? Yes!  ");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1], "Does it? ");
  EXPECT_EQ(sentences_of("no end").size(), 1u);
  EXPECT_TRUE(sentences_of("  ").empty());
}

TEST(Segments, TagsThatEndALineEndASentence) {
  const std::string text = "what a mess<br /><br />Equally <i>bad</i> is it<P>and a < b";
  const auto all = sentences_of(text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].starts_with("what a mess"));
  EXPECT_EQ(unicode_words_of(all[1]), (std::vector<std::string>{"equally", "bad", "is", "it"}));
  EXPECT_EQ(unicode_words_of(all[2]), (std::vector<std::string>{"and", "a", "<", "b"}));
  EXPECT_EQ(all[0].data(), text.data()) << "parts of the text";
  EXPECT_EQ(sentences_of("a <pre> b").size(), 1u);
}

TEST(Segments, AsTokenisers) {
  const std::vector<std::string_view> texts = {"The cat. The DOG!", "the end"};
  const auto words = Tokeniser::train(texts, {.kind = "unicode_words"});
  EXPECT_EQ(words->decode(words->encode("The dog.")), "the dog .");
  EXPECT_EQ(words->token(kSpecials), "the");
  const auto back = Tokeniser::parse("unicode_words", words->contents(), "x");
  EXPECT_EQ(back->encode("THE END"), words->encode("the end"));
  const std::vector<std::string_view> labels = {"science fiction", " science fiction ", "crime"};
  const auto lines = Tokeniser::train(labels, {.kind = "lines"});
  EXPECT_EQ(lines->size(), kSpecials + 2);
  EXPECT_EQ(lines->encode("science fiction").size(), 1u);
  EXPECT_EQ(lines->decode(lines->encode(" crime")), "crime");
  EXPECT_EQ(lines->encode("western").front(), kUnknown);
  EXPECT_TRUE(lines->encode("  ").empty());
}

}  // namespace
}  // namespace heed::text
