#include "heed/model/search/constraint_tracker.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"

namespace heed::search {

namespace {
constexpr float kNever = -std::numeric_limits<float>::infinity();
}

ConstraintTracker::ConstraintTracker(const Rules* rules, const Options& options) : rules_(rules), o_(options) {
  if (!rules_) return;
  const int64_t count = rules_->must.count();
  expect(count <= Rules::kMostMust, "search: at most {} phrases must come, not {}", Rules::kMostMust, count);
  for (int64_t p = 0; p < count; ++p) {
    tokens_of_must_ += std::ssize(rules_->must.phrase(p));
    all_ |= uint64_t{1} << p;
  }
}

void ConstraintTracker::forbid(const ConstraintState& standing, int64_t position, std::span<float> logits) const {
  if (rules_ && position < std::ssize(rules_->prefix)) {
    const auto next = static_cast<size_t>(rules_->prefix[static_cast<size_t>(position)]);
    expect(next < logits.size(), "search: token {} of a prefix: the vocabulary has {}", next, logits.size());
    const float stays = logits[next];
    std::fill(logits.begin(), logits.end(), kNever);
    logits[next] = stays;
    return;
  }
  const auto never = [&](int32_t token) {
    if (static_cast<size_t>(token) < logits.size()) logits[static_cast<size_t>(token)] = kNever;
  };
  if (o_.no_repeat_ngram > 0) forbid_repeats(standing.tokens, logits);
  if (!rules_) return;
  if (rules_->must_not) rules_->must_not->each_completing(standing.must_not, never);
  if (standing.met != all_) never(o_.end);
}

/// A token that would end an n-gram which is there already.
void ConstraintTracker::forbid_repeats(const std::vector<int32_t>& tokens, std::span<float> logits) const {
  const int64_t context = o_.no_repeat_ngram - 1, count = std::ssize(tokens);
  for (int64_t begin = 0; begin + context < count; ++begin)
    if (std::equal(tokens.begin() + begin, tokens.begin() + begin + context, tokens.end() - context))
      logits[static_cast<size_t>(tokens[static_cast<size_t>(begin + context)])] = kNever;
}

void ConstraintTracker::follow(ConstraintState& standing, int32_t token) const {
  if (o_.no_repeat_ngram > 0) standing.tokens.push_back(token);
  if (!rules_) return;
  if (rules_->must_not) standing.must_not = rules_->must_not->next(standing.must_not, token);
  if (!wants()) return;
  standing.must = rules_->must.next(standing.must, token);
  standing.met = met_at(standing.must, standing.met);
}

uint64_t ConstraintTracker::met_at(int32_t node, uint64_t before) const {
  rules_->must.each_complete(node, [&](int64_t p) { before |= uint64_t{1} << p; });
  return before;
}

int64_t ConstraintTracker::bank_after(const ConstraintState& standing, int32_t token) const {
  if (token == o_.end) return tokens_of_must_;  // only allowed where nothing is missing
  const int32_t node = rules_->must.next(standing.must, token);
  const uint64_t met = met_at(node, standing.met);
  int64_t tokens = 0, begun = 0;
  for (int64_t p = 0; p < rules_->must.count(); ++p)
    if (met >> p & 1) tokens += std::ssize(rules_->must.phrase(p));
  rules_->must.each_begun(node, [&](int64_t p, int64_t length) {
    if (!(met >> p & 1)) begun = std::max(begun, length);
  });
  return tokens + begun;
}

void ConstraintTracker::wanted_next(const ConstraintState& standing, std::vector<int32_t>& tokens) const {
  tokens.clear();
  if (standing.met == all_) return;
  rules_->must.each_begun(standing.must, [&](int64_t p, int64_t length) {
    if (!(standing.met >> p & 1)) tokens.push_back(rules_->must.phrase(p)[static_cast<size_t>(length)]);
  });
}

std::vector<int64_t> ConstraintTracker::missing(std::span<const int32_t> tokens) const {
  std::vector<int64_t> missing;
  if (!wants()) return missing;
  uint64_t met = 0;
  int32_t node = 0;
  for (const int32_t token : tokens) met = met_at(node = rules_->must.next(node, token), met);
  for (int64_t p = 0; p < rules_->must.count(); ++p)
    if (!(met >> p & 1)) missing.push_back(p);
  return missing;
}

}  // namespace heed::search
