// The automaton finds what a plain search for each phrase finds.
#include "heed/model/search/phrases.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "tests/model/search/enumeration.h"

namespace heed::search::test {
namespace {

using Tokens = std::vector<int32_t>;

bool ends_with(const Tokens& text, std::span<const int32_t> end) {
  return text.size() >= end.size() && std::equal(end.begin(), end.end(), text.end() - std::ssize(end));
}

TEST(Phrases, AreFoundAsByComparingAll) {
  text::Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Tokens> phrases(1 + random.below(5));
    for (Tokens& phrase : phrases)
      for (uint64_t n = 1 + random.below(4); n > 0; --n) phrase.push_back(static_cast<int32_t>(random.below(3)));
    const Phrases automaton(phrases);
    Tokens text;
    int32_t node = 0;
    for (int t = 0; t < 40; ++t) {
      std::set<int32_t> completing, right;
      automaton.each_completing(node, [&](int32_t token) { completing.insert(token); });
      for (int32_t v = 0; v < 3; ++v) {
        Tokens longer = text;
        longer.push_back(v);
        if (std::any_of(phrases.begin(), phrases.end(), [&](const Tokens& p) { return ends_with(longer, p); }))
          right.insert(v);
      }
      ASSERT_EQ(completing, right);

      text.push_back(static_cast<int32_t>(random.below(3)));
      node = automaton.next(node, text.back());
      std::set<int64_t> complete, all_complete;
      automaton.each_complete(node, [&](int64_t p) { complete.insert(p); });
      std::vector<int64_t> begun(phrases.size(), -1);
      automaton.each_begun(node, [&](int64_t p, int64_t n) {
        if (begun[static_cast<size_t>(p)] < 0) begun[static_cast<size_t>(p)] = n;  // the largest comes first
      });
      for (size_t p = 0; p < phrases.size(); ++p) {
        if (ends_with(text, phrases[p])) all_complete.insert(static_cast<int64_t>(p));
        int64_t longest = 0;
        for (size_t n = 1; n <= phrases[p].size(); ++n)
          if (ends_with(text, std::span(phrases[p]).first(n))) longest = static_cast<int64_t>(n);
        ASSERT_EQ(begun[p], longest);
      }
      ASSERT_EQ(complete, all_complete);
    }
  }
}

TEST(Phrases, WithoutTokensAreRefused) { EXPECT_THROW(Phrases({{1}, {}}), Error); }

}  // namespace
}  // namespace heed::search::test
