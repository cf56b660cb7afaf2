// Every vocabulary here begins with <unk>, <s> and </s>: in which order the tokens of another program come, and the
// rows of its tables with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::imports {

/// Ids of another program, for what the first three mean here. The token that a target or a text begins with may be the
/// one that ends it. None: it has no such token.
struct SpecialIds {
  std::optional<int64_t> unknown, start, end;
};

class TokenOrder {
 public:
  /// `never`: further tokens that no text is cut into, which come next.
  TokenOrder(int64_t tokens, const SpecialIds& special, const std::vector<int64_t>& never = {});

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  /// Of each id here: the id there, or kNoRow.
  const std::vector<int64_t>& rows() const { return rows_; }
  static constexpr int64_t kNoRow = -1;

  /// The rows of a table [tokens, width]; zeros for what is not there.
  std::vector<float> table(const std::vector<float>& rows, int64_t width) const;
  /// Biases of the output. What is not there, and a second <s>, can never be written: their probability is 0.
  std::vector<float> biases(const std::vector<float>& biases) const;

 private:
  std::vector<int64_t> rows_;
  std::vector<uint8_t> extra_;  // of each id here: no id there is it alone
};

/// The tokens from the fourth on, in that order, none spelled like <unk>, <s> or </s>.
std::vector<std::string> in_order(const TokenOrder& order, const std::vector<std::string>& tokens);

}  // namespace heed::imports
