#include "heed/text/metric/difference.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/text/graphemes.h"
#include "heed/text/utf8.h"

namespace heed::metric {
namespace {

TEST(Difference, Marks) {
  EXPECT_EQ(marked_difference("the cat sit", "the cats sat"), "the cat{+s+} s[-i-]{+a+}t");
  EXPECT_EQ(marked_difference("same", "same"), "same");
  EXPECT_EQ(marked_difference("", ""), "");
  EXPECT_EQ(marked_difference("", "all"), "{+all+}");
  EXPECT_EQ(marked_difference("all", ""), "[-all-]");
  EXPECT_EQ(marked_difference("abc", "xyz"), "[-abc-]{+xyz+}");
  EXPECT_EQ(marked_difference("abcd", "bcde"), "[-a-]bcd{+e+}");
  EXPECT_EQ(marked_difference("h ow", "h aU"), "h [-ow-]{+aU+}");
}

TEST(Difference, MarksStayOnTheirLetters) {
  // e and an acute that stands alone; it may not be marked without its letter.
  EXPECT_EQ(marked_difference("cafe", "cafe\u0301"), "caf[-e-]{+e\u0301+}");
  EXPECT_EQ(marked_difference("\u0915\u093f", "\u0915\u0940"), "[-\u0915\u093f-]{+\u0915\u0940+}");  // Devanagari
  EXPECT_EQ(marked_difference("a\U0001F44D\U0001F3FFb", "a\U0001F44Db"), "a[-\U0001F44D\U0001F3FF-]{+\U0001F44D+}b");
  EXPECT_EQ(letter_edits("cafe", "cafe\u0301"), 1);
}

TEST(Difference, FromRightToLeft) {
  // In the order of the text: shalom with a letter too much and another that is missing.
  EXPECT_EQ(marked_difference("\u05e9\u05dc\u05dc\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
            "\u05e9\u05dc[-\u05dc-]{+\u05d5+}\u05dd");
}

TEST(Difference, BytesThatAreNoText) { EXPECT_EQ(marked_difference("a\xff", "a\xfe"), "a[-\xff-]{+\xfe+}"); }

/// Both texts can be read from the parts, and there are as many edits as the distance says.
void expect_complete(const std::string& output, const std::string& reference, bool fewest = true) {
  std::string said, wanted;
  int64_t edits = 0;
  for (const DifferencePart& part : difference_of(output, reference)) {
    EXPECT_TRUE(part.same.empty() || (part.too_much.empty() && part.missing.empty()));
    EXPECT_FALSE(part == DifferencePart());
    said += part.same + part.too_much;
    wanted += part.same + part.missing;
    edits += static_cast<int64_t>(std::max(text::utf8_count(part.too_much), text::utf8_count(part.missing)));
  }
  EXPECT_EQ(said, output);
  EXPECT_EQ(wanted, reference);
  if (fewest) {
    EXPECT_EQ(edits, letter_edits(output, reference)) << output << " | " << reference;
  }
}

TEST(Difference, IsCompleteAndShortest) {
  text::Random random(7);
  const auto drawn = [&](uint64_t longest) {
    std::string letters;
    for (uint64_t n = random.below(longest); n > 0; --n) letters += static_cast<char>('a' + random.below(3));
    return letters;
  };
  for (int n = 0; n < 500; ++n) expect_complete(drawn(12), drawn(12));
  for (int n = 0; n < 5; ++n) expect_complete(drawn(300), drawn(300));
}

TEST(Difference, VeryLongTextsTakeNoTime) {
  std::string one(20000, 'a'), other(20000, 'b');
  expect_complete("x" + one + "y", "x" + other + "y", false);
  EXPECT_EQ(marked_difference("x" + one + "y", "x" + other + "y"), "x[-" + one + "-]{+" + other + "+}y");
}

}  // namespace
}  // namespace heed::metric
