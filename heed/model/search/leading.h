// Tells Options::on_token about the hypothesis that leads, where another may take the lead.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

/// Both must outlive this.
class LeadingTeller {
 public:
  LeadingTeller(const Options& options, const Input& input) : o_(options), input_(input) {
    if (is_asked()) told_.resize(static_cast<size_t>(input.size()));
  }

  bool is_asked() const { return static_cast<bool>(o_.on_token); }
  /// Nothing happens if these are the tokens that were told last.
  void tell(int64_t sentence, std::vector<int32_t> tokens) {
    std::vector<int32_t>& told = told_[static_cast<size_t>(sentence)];
    if (tokens == told) return;
    told = std::move(tokens);
    o_.on_token(input_.number(sentence), told);
  }

 private:
  const Options& o_;
  const Input& input_;
  std::vector<std::vector<int32_t>> told_ = {};  // [sentences], or none if nobody asked
};

}  // namespace heed::search
