#include "heed/data/copied_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/tokens.h"

namespace heed::data {

namespace {

constexpr int32_t kNotOne = -1;

std::string_view without_blank(std::string_view piece) {
  return piece.size() > 1 && piece.starts_with(' ') ? piece.substr(1) : piece;
}

}  // namespace

/// The token of the target that is this text alone; kUnknown if its vocabulary lacks it.
int32_t CopyReader::of_piece(const std::string& piece) {
  const auto [found, is_new] = known_.try_emplace(piece, kNotOne);
  if (is_new) {
    const std::vector<int32_t> tokens = target_.encode(piece);
    if (tokens.size() == 1) found->second = tokens[0];
  }
  return found->second;
}

CopiedWords CopyReader::read(std::string_view text, std::span<const int32_t> tokens) {
  CopiedWords words;
  words.ids.assign(tokens.begin(), tokens.end());
  const bool same = &source_ == &target_;
  if (same && std::find(tokens.begin(), tokens.end(), text::kUnknown) == tokens.end()) return words;
  const std::vector<std::string> pieces = source_.cut(text);
  expect(pieces.size() == tokens.size(), ErrorKind::bug, "copying: {} pieces of text for {} tokens", pieces.size(),
         tokens.size());
  std::unordered_map<std::string_view, int32_t> extra;
  for (size_t i = 0; i < pieces.size(); ++i) {
    int32_t& id = words.ids[i];
    if (!same) id = of_piece(pieces[i]);
    if (id != text::kUnknown) continue;
    const auto next = static_cast<int32_t>(words.extra.size());
    const auto [found, is_new] = extra.try_emplace(pieces[i], target_.size() + next);
    if (is_new) words.extra.push_back(pieces[i]);
    id = found->second;
  }
  return words;
}

std::vector<int32_t> with_copied(std::vector<int32_t> tokens, std::string_view target_text,
                                 const text::Tokeniser& target, std::span<const std::string> extra) {
  if (extra.empty() || std::find(tokens.begin(), tokens.end(), text::kUnknown) == tokens.end()) return tokens;
  const std::vector<std::string> pieces = target.cut(target_text);
  for (size_t i = 0; i < std::min(tokens.size(), pieces.size()); ++i) {
    if (tokens[i] != text::kUnknown) continue;
    const auto found = std::find(extra.begin(), extra.end(), pieces[i]);
    if (found != extra.end()) tokens[i] = target.size() + static_cast<int32_t>(found - extra.begin());
  }
  return tokens;
}

namespace {

const std::string& word_of(const text::Tokeniser& target, int32_t token, std::span<const std::string> extra) {
  const auto number = static_cast<size_t>(token - target.size());
  expect(number < extra.size(), "there is no token {}: the vocabulary has {}, and the source {} words beside it", token,
         target.size(), extra.size());
  return extra[number];
}

}  // namespace

std::string decode_copied(const text::Tokeniser& target, std::span<const int32_t> tokens,
                          std::span<const std::string> extra, std::span<const std::string> for_unknown) {
  std::vector<int32_t> known(tokens.begin(), tokens.end());
  std::vector<std::string> words;
  size_t next = 0;
  for (int32_t& token : known)
    if (token == text::kUnknown) {
      words.push_back(next < for_unknown.size() ? for_unknown[next] : "");
      ++next;
    } else if (token >= target.size()) {
      words.push_back(word_of(target, token, extra));
      token = text::kUnknown;
    }
  return target.decode(known, words);
}

std::string spell_copied(const text::Tokeniser& target, int32_t token, std::span<const std::string> extra) {
  if (token < target.size()) return target.token(token);
  return std::string(without_blank(word_of(target, token, extra)));
}

std::vector<std::string> stand_ins(const text::Tokeniser& target, std::span<const int32_t> tokens) {
  int32_t most = target.size() - 1;
  for (const int32_t token : tokens) most = std::max(most, token);
  std::vector<std::string> words;
  for (int32_t id = target.size(); id <= most; ++id) words.push_back(fmt::format(" ⁇{}", id - target.size() + 1));
  return words;
}

}  // namespace heed::data
