// Continuations of the hypotheses of a sentence by one token, and which of them survive a step of beam search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::search {

struct Candidate {
  double log_probability;
  double order_by;  // the log-probability, less what diversity takes
  size_t open;      // the hypothesis that it continues
  int32_t token;
  int32_t bank = 0;  // see ConstraintTracker::banks()
};

/// By order_by; in a tie by the hypothesis and the token.
bool better(const Candidate& a, const Candidate& b);

/// Sorts the best to the front, as many as are needed, and sets `chosen` to the numbers of those that survive, the best
/// first: an END among the first `width`, and the first `width` others.
void choose_best(std::vector<Candidate>& candidates, int64_t width, int32_t end, std::vector<size_t>& chosen);

/// The same where phrases must come: each bank has an equal share of the places, `width` / `banks`, and that of the
/// complete ones the rest of the division too. What a bank has no candidates for goes to the best of the others. So a
/// hypothesis that begins a phrase is compared with those that have as much of the phrases, not with fluent ones that
/// avoid them; and after as many steps as the phrases have tokens, a complete one is there. `width` must be at least
/// `banks`.   Post and Vilar 2018, "dynamic beam allocation"
void choose_by_banks(std::vector<Candidate>& candidates, int64_t width, int64_t banks, int32_t end,
                     std::vector<size_t>& chosen);

/// Of those that were not chosen, the numbers of the `most` best, the best first.
std::vector<size_t> best_dropped(const std::vector<Candidate>& candidates, const std::vector<size_t>& chosen,
                                 int64_t most);

}  // namespace heed::search
