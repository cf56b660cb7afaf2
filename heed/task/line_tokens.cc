#include "heed/task/line_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/copied_words.h"
#include "heed/text/utf8.h"

namespace heed::task {

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> spelled(const text::Tokeniser& tokeniser, std::span<const int32_t> ids,
                                 std::span<const std::string> copied) {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) tokens.push_back(data::spell_copied(tokeniser, id, copied));
  return tokens;
}

std::vector<int32_t> target_tokens(const TextPair& pair, const text::Tokeniser& target,
                                   std::span<const std::string> copied) {
  for (const int32_t id : pair.target_ids)
    expect(id >= 0 && id < target.size() + std::ssize(copied),
           "target_ids: there is no token {}; the vocabulary has {}", id, target.size());
  if (!pair.target_ids.empty()) return pair.target_ids;
  return data::with_copied(target.encode(pair.target), pair.target, target, copied);
}

std::vector<int32_t> framed(std::vector<int32_t> ids) {
  if (ids.empty()) return ids;
  ids.insert(ids.begin(), text::kStart);
  ids.push_back(text::kEnd);
  return ids;
}

std::string too_long(int64_t tokens, int64_t places) {
  return fmt::format("{} tokens are too many: the model has positions for {}", tokens, places);
}

std::vector<std::string> unknown_in(std::string_view line, std::span<const int32_t> ids,
                                    const text::Tokeniser& source) {
  std::vector<std::string> unknown;
  if (std::find(ids.begin(), ids.end(), text::kUnknown) == ids.end()) return unknown;
  const std::vector<std::string> tokens = source.cut(line);
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < std::min(ids.size(), tokens.size()); ++i) {
    if (ids[i] != text::kUnknown) continue;
    std::string token = tokens[i];
    if (token.size() > 1 && token.starts_with(' ')) token.erase(0, 1);  // before a word; a blank alone stays
    if (seen.insert(token).second) unknown.push_back(std::move(token));
  }
  return unknown;
}

void add_unknown(std::string_view text, const text::Tokeniser& tokeniser, std::vector<std::string>& unknown) {
  if (!text::utf8_complaint(text).empty()) return;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    for (std::string& token : unknown_in(line, tokeniser.encode(line), tokeniser))
      if (std::find(unknown.begin(), unknown.end(), token) == unknown.end()) unknown.push_back(std::move(token));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace heed::task
