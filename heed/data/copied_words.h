// What a model that copies may take from a source: each of its tokens, as a token of the target. Words that no target
// of the training data taught it can be copied too: of each source they get ids behind those of the target's
// vocabulary.
//
//   source            gimp2 reads gimp2-foo files          the target's vocabulary has 10,000 tokens, without gimp2-foo
//   as target tokens  17    204   10000     35
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::data {

/// Of one source, whose target has a vocabulary of V tokens.
struct CopiedWords {
  std::vector<int32_t> ids = {};        // [source tokens]: < V: a token of the target; V + k: extra[k]; -1: neither
  std::vector<std::string> extra = {};  // as Tokeniser::cut() gives them, each once
};

/// Threads: one at a time: it remembers what it looked up.
class CopyReader {
 public:
  /// They must outlive this. May be the same one.
  CopyReader(const text::Tokeniser& source, const text::Tokeniser& target) : source_(source), target_(target) {}

  /// `tokens`: of the text.
  CopiedWords read(std::string_view text, std::span<const int32_t> tokens);

 private:
  int32_t of_piece(const std::string& piece);

  const text::Tokeniser& source_;
  const text::Tokeniser& target_;
  std::unordered_map<std::string, int32_t> known_;
};

/// Tokens of a target, where the unknown ones that its source has become the ids of `extra`.
std::vector<int32_t> with_copied(std::vector<int32_t> tokens, std::string_view target_text,
                                 const text::Tokeniser& target, std::span<const std::string> extra);

/// Tokeniser::decode() and Tokeniser::token() of tokens that may be ids of `extra`. `for_unknown`: for the others.
std::string decode_copied(const text::Tokeniser& target, std::span<const int32_t> tokens,
                          std::span<const std::string> extra, std::span<const std::string> for_unknown = {});
std::string spell_copied(const text::Tokeniser& target, int32_t token, std::span<const std::string> extra);

/// Words for `tokens` where the source's own are not at hand: the same id gives the same one.
std::vector<std::string> stand_ins(const text::Tokeniser& target, std::span<const int32_t> tokens);

}  // namespace heed::data
