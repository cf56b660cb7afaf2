// The rules of a sentence, step by step: which tokens may come next, and how far a hypothesis is with what must come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

/// How a hypothesis stands with the rules.
struct ConstraintState {
  int32_t must = 0, must_not = 0;    // nodes of the phrases
  uint64_t met = 0;                  // bit p: phrase p of Rules::must has come
  std::vector<int32_t> tokens = {};  // so far; only where n-grams must not repeat
};

class ConstraintTracker {
 public:
  /// `rules` may be null. All must outlive this.
  ConstraintTracker(const Rules* rules, const Options& options);

  /// Sets the logits [vocabulary] of all tokens that may not come next to -infinity. `position`: of the next token.
  void forbid(const ConstraintState& standing, int64_t position, std::span<float> logits) const;
  void follow(ConstraintState& standing, int32_t token) const;

  // ------------------------------------------------------------------------------------------ phrases that must come
  bool wants() const { return tokens_of_must_ > 0; }
  /// Hypotheses are sorted into banks by how many tokens of these phrases they have: from 0 to banks() - 1, all.
  int64_t banks() const { return tokens_of_must_ + 1; }
  int64_t bank_after(const ConstraintState& standing, int32_t token) const;
  /// Tokens that begin or go on with a phrase that has not come yet; some may be there twice.
  void wanted_next(const ConstraintState& standing, std::vector<int32_t>& tokens) const;
  /// Numbers of the phrases that are not in the tokens.
  std::vector<int64_t> missing(std::span<const int32_t> tokens) const;

 private:
  void forbid_repeats(const std::vector<int32_t>& tokens, std::span<float> logits) const;
  uint64_t met_at(int32_t node, uint64_t before) const;

  const Rules* rules_;
  const Options& o_;
  int64_t tokens_of_must_ = 0;
  uint64_t all_ = 0;  // ConstraintState::met, if nothing is missing
};

}  // namespace heed::search
