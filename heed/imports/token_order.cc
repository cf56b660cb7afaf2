#include "heed/imports/token_order.h"

#include <algorithm>

#include "heed/text/tokens.h"

namespace heed::imports {

namespace {
/// exp() of it is 0 beside any logit of a model.
constexpr float kNever = -1e4f;
}  // namespace

TokenOrder::TokenOrder(int64_t tokens, const SpecialIds& special, const std::vector<int64_t>& never) {
  std::vector<bool> taken(static_cast<size_t>(tokens));
  const auto take = [&](std::optional<int64_t> id) {
    const bool there = id.has_value() && *id < tokens, again = there && taken[static_cast<size_t>(*id)];
    rows_.push_back(there ? *id : kNoRow);
    extra_.push_back(!there || again ? 1 : 0);
    if (there) taken[static_cast<size_t>(*id)] = true;
  };
  // The end is written, so that its row is the one that counts.
  take(special.end);
  take(special.start);
  take(special.unknown);
  std::swap(rows_[text::kUnknown], rows_[text::kEnd]);
  std::swap(extra_[text::kUnknown], extra_[text::kEnd]);
  for (const int64_t id : never)
    if (!taken[static_cast<size_t>(id)]) take(id);
  for (int64_t id = 0; id < tokens; ++id)
    if (!taken[static_cast<size_t>(id)]) take(id);
}

std::vector<float> TokenOrder::table(const std::vector<float>& rows, int64_t width) const {
  std::vector<float> ordered(rows_.size() * static_cast<size_t>(width));
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i] != kNoRow)
      std::copy_n(rows.begin() + rows_[i] * width, width, ordered.begin() + static_cast<int64_t>(i) * width);
  return ordered;
}

std::vector<float> TokenOrder::biases(const std::vector<float>& biases) const {
  std::vector<float> ordered(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i)
    ordered[i] = extra_[i] != 0 ? kNever : biases.empty() ? 0.0f : biases[static_cast<size_t>(rows_[i])];
  return ordered;
}

std::vector<std::string> in_order(const TokenOrder& order, const std::vector<std::string>& tokens) {
  std::vector<std::string> all;
  for (size_t i = text::kSpecials; i < order.rows().size(); ++i) {
    std::string token = tokens[static_cast<size_t>(order.rows()[i])];
    if (std::ranges::count(text::kSpecialNames, token) > 0) token += '\'';
    all.push_back(std::move(token));
  }
  return all;
}

}  // namespace heed::imports
