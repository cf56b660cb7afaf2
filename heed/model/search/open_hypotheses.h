// Sentences with several open hypotheses each: their steps, and which row of the next step each hypothesis takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heed/model/search/stepper.h"

namespace heed::search {

/// `next`: hypotheses that survived, `parents`: of each the place that it came from, `places`: how many there were. The
/// first child of each takes its place, so that nothing is copied for it; other children take the places of those that
/// have none.
template <class Open>
void keep_places(std::vector<Open>& next, std::vector<size_t>& parents, size_t places) {
  constexpr auto kNobody = static_cast<size_t>(-1);
  std::vector<size_t> order(std::max(next.size(), places), kNobody);
  std::vector<size_t> others;
  for (size_t i = 0; i < next.size(); ++i) {
    if (parents[i] < next.size() && order[parents[i]] == kNobody)
      order[parents[i]] = i;
    else
      others.push_back(i);
  }
  order.resize(next.size());
  size_t taken = 0;
  for (size_t& who : order)
    if (who == kNobody) who = others[taken++];
  std::vector<Open> placed;
  std::vector<size_t> parents_placed;
  for (const size_t who : order) {
    placed.push_back(std::move(next[who]));
    parents_placed.push_back(parents[who]);
  }
  next = std::move(placed);
  parents = std::move(parents_placed);
}

/// Steps until every sentence is over. `open` of a sentence: its hypotheses, in the order of their rows, each with its
/// last token. At each step `see(logits)` is called once, then `advance(sentence, first, logits, parents)` for each:
/// its rows begin at `first`; it replaces `open`, sets the place that each came from, and says whether it goes on.
template <class Sentence, class See, class Advance>
void step_together(Stepper& stepper, std::vector<Sentence>& all, const See& see, const Advance& advance) {
  while (!all.empty()) {
    std::vector<int32_t> tokens;
    for (const Sentence& sentence : all)
      for (const auto& open : sentence.open) tokens.push_back(open.token);
    const Tensor logits = stepper.next(tokens);
    see(logits);
    int64_t first = 0;
    std::vector<int64_t> rows;
    std::vector<Sentence> still;
    for (Sentence& sentence : all) {
      const auto count = std::ssize(sentence.open);
      std::vector<size_t> parents;
      if (advance(sentence, first, logits, parents)) {
        for (const size_t parent : parents) rows.push_back(first + static_cast<int64_t>(parent));
        still.push_back(std::move(sentence));
      }
      first += count;
    }
    all = std::move(still);
    if (!all.empty()) stepper.select(rows);
  }
}

}  // namespace heed::search
