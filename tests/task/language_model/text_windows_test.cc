#include "heed/task/language_model/text_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/tokens.h"

namespace heed::task {
namespace {

/// [begin, first, end) of each.
std::vector<std::vector<int64_t>> cuts_of(int64_t tokens, const WindowRule& rule) {
  std::vector<std::vector<int64_t>> all;
  for (const TextWindow& w : windows_of(tokens, rule)) all.push_back({w.begin, w.first, w.end});
  return all;
}

TEST(TextWindows, TheFirstIsLongAndTheOthersAddAStride) {
  EXPECT_EQ(cuts_of(9, {.length = 4, .stride = 2}),
            (std::vector<std::vector<int64_t>>{{0, 0, 4}, {2, 4, 6}, {4, 6, 8}, {6, 8, 9}}));
  EXPECT_EQ(cuts_of(9, {.length = 4, .stride = 4}),
            (std::vector<std::vector<int64_t>>{{0, 0, 4}, {4, 4, 8}, {8, 8, 9}}));
  EXPECT_EQ(cuts_of(4, {.length = 4, .stride = 1}), (std::vector<std::vector<int64_t>>{{0, 0, 4}}));
  EXPECT_EQ(cuts_of(6, {.length = 4, .stride = 1}),
            (std::vector<std::vector<int64_t>>{{0, 0, 4}, {1, 4, 5}, {2, 5, 6}}));
  EXPECT_TRUE(windows_of(0, {}).empty());
}

// What get_rolling_token_windows(tokens, prefix, max_seq_len, context_len) of lm-evaluation-harness gives, written from
// its definition: the inputs of each window and how many of its last positions predict. Its last window is moved back.
std::vector<std::vector<int64_t>> rolling(int64_t tokens, int64_t length, int64_t context) {
  std::vector<std::vector<int64_t>> all;
  int64_t predicted = std::min(length, tokens);
  all.push_back({0, 0, predicted});
  while (predicted < tokens) {
    const int64_t more = std::min(tokens - predicted, length - context + 1), end = predicted + more;
    all.push_back({end - length, predicted, end});
    predicted = end;
  }
  return all;
}

TEST(TextWindows, AreThoseOfARollingLogLikelihood) {
  for (const int64_t context : {1, 3, 5})  // tokens before the first that a window predicts
    for (const int64_t full : {0, 1, 4}) {
      const WindowRule rule{.length = 8, .stride = 8 - context + 1};
      EXPECT_EQ(cuts_of(8 + full * rule.stride, rule), rolling(8 + full * rule.stride, 8, context)) << context;
    }
}

TEST(TextWindows, WhatATokenSeesDoesNotDependOnWhatFollows) {
  for (const WindowRule& rule :
       {WindowRule{.length = 5, .stride = 2}, {.length = 5, .stride = 5}, {.length = 6, .stride = 6, .piece = 2}}) {
    const auto longest = windows_of(40, rule);
    for (int64_t tokens = 1; tokens < 40; ++tokens) {
      int64_t next = 0;
      for (const TextWindow& w : windows_of(tokens, rule)) {
        EXPECT_EQ(w.first, next);  // each is predicted once
        next = w.end;
        for (int64_t place = w.first; place < w.end; ++place) {
          const auto same = std::find_if(longest.begin(), longest.end(),
                                         [&](const TextWindow& l) { return place >= l.first && place < l.end; });
          EXPECT_EQ(same->begin, w.begin);
          EXPECT_EQ(same->goes_on, w.goes_on);
          if (rule.piece == 0) {
            EXPECT_EQ(rule.begin_of(place), w.begin);
          }
        }
      }
      EXPECT_EQ(next, tokens);
    }
  }
}

TEST(TextWindows, PartsThatGoOnFollowInTheNextBatch) {
  std::vector<TextWindow> all;
  for (const int64_t tokens : {7, 2, 12, 1})
    for (const TextWindow& w : windows_of(tokens, {.length = 10, .stride = 10, .piece = 3})) all.push_back(w);
  for (const int64_t most : {1, 5, 100}) {
    std::vector<int64_t> batch_of(all.size(), -1);
    const std::vector<data::Indices> batches = batches_of(all, most);
    for (size_t b = 0; b < batches.size(); ++b) {
      int64_t tokens = 0;
      for (const int64_t w : batches[b]) {
        EXPECT_EQ(std::exchange(batch_of[static_cast<size_t>(w)], static_cast<int64_t>(b)), -1);
        tokens += all[static_cast<size_t>(w)].end - all[static_cast<size_t>(w)].begin;
        // All went on equally often.
        EXPECT_EQ(all[static_cast<size_t>(w)].goes_on, all[static_cast<size_t>(batches[b][0])].goes_on);
      }
      EXPECT_TRUE(tokens <= most || batches[b].size() == 1);
    }
    for (size_t w = 0; w < all.size(); ++w) {
      ASSERT_GE(batch_of[w], 0);
      if (all[w].goes_on) {
        EXPECT_EQ(batch_of[w], batch_of[w - 1] + 1);
      }
    }
  }
}

TEST(TextWindows, NoDocumentSeesAnother) {
  std::vector<int32_t> ids;
  for (const int count : {6, 1, 10}) {
    ids.push_back(text::kStart);
    for (int i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(10 + ids.size()));
    ids.push_back(text::kEnd);
  }
  auto tokens = std::make_shared<TokenStore>();
  tokens->add(ids);
  tokens->finish();
  const TextWindows windows(tokens, 0, {.length = 4, .stride = 2});
  std::vector<std::pair<int32_t, int32_t>> predicted, expected;
  for (size_t i = 0; i + 1 < ids.size(); ++i)
    if (ids[i] != text::kEnd) expected.emplace_back(ids[i], ids[i + 1]);
  for (const data::Indices& batch : windows.batches({.max_tokens = 9, .shuffle = false}, 0)) {
    const data::Batch p = windows.pack(batch);
    int64_t counted = 0;
    for (const int64_t each : batch) counted += windows.predictions(each);
    for (size_t i = 0; i < p.targets.in.size(); ++i) {
      EXPECT_NE(p.targets.in[i], text::kEnd);
      if (p.targets.out[i] < 0) continue;
      predicted.emplace_back(p.targets.in[i], p.targets.out[i]);
      --counted;
    }
    EXPECT_EQ(counted, 0);
    EXPECT_TRUE(p.of_examples.empty()) << "a part is an example";
  }
  EXPECT_EQ(predicted, expected);
}

TEST(TextWindows, AStrideThatDoesNotFitIsRefused) {
  EXPECT_THROW(windows_of(9, {.length = 4, .stride = 5}), Error);
  EXPECT_THROW(windows_of(9, {.length = 4, .stride = 0}), Error);
}

}  // namespace
}  // namespace heed::task
