#include "heed/text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/escape.h"
#include "heed/text/file.h"
#include "heed/text/utf8.h"

namespace heed::text {

namespace {

/// For a message: control characters as \x1b.
std::string printable(std::string_view text) {
  std::string shown;
  for (const std::string_view character : CodePoints(text))
    shown += find_control(character) == std::string_view::npos
                 ? std::string(character)
                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(character.back()));
  return shown;
}

/// The token written as `line`; throws if `line` breaks the rules.
std::string token_of(std::string_view line, std::string_view name, int64_t number) {
  std::string token = unescaped(line, fmt::format("{}, line {}", name, number));
  const size_t control = find_control(token);
  expect(control == std::string::npos, ErrorKind::file,
         "{}, line {}: the token '{}' holds a control character, which would break output lines", name, number,
         printable(line));
  return token;
}

}  // namespace

void TokenCounts::add(std::string_view token, int64_t times) {
  const auto found = counts_.find(token);
  if (found == counts_.end())
    counts_.emplace(token, times);
  else
    found->second += times;
}

int64_t TokenCounts::count(std::string_view token) const {
  const auto found = counts_.find(token);
  return found == counts_.end() ? 0 : found->second;
}

Vocabulary::Vocabulary() : tokens_(kSpecialNames.begin(), kSpecialNames.end()) {}

bool Vocabulary::insert(std::string token) {
  if (std::find(kSpecialNames.begin(), kSpecialNames.end(), token) != kSpecialNames.end()) return false;
  if (!ids_.emplace(token, size()).second) return false;
  tokens_.push_back(std::move(token));
  return true;
}

Vocabulary Vocabulary::from_counts(const TokenCounts& counts, const VocabularyOptions& options) {
  Vocabulary made;
  made.add(counts, options);
  return made;
}

void Vocabulary::add(const TokenCounts& counts, const VocabularyOptions& options) {
  expect(options.max_size == 0 || options.max_size >= kSpecials, "a vocabulary has at least {} entries, not {}",
         kSpecials, options.max_size);
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [token, count] : counts)
    if (count >= options.min_count && !token.empty() && find_control(token) == std::string::npos)
      order.emplace_back(count, token);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  const int64_t most = options.max_size == 0 ? std::numeric_limits<int32_t>::max() : options.max_size;
  for (const auto& [count, token] : order) {
    if (size() >= most) break;
    insert(std::string(token));
  }
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) { return parse(read_file(path), path.string()); }

Vocabulary Vocabulary::parse(std::string_view contents, std::string_view name) {
  Vocabulary made;
  int64_t number = 0;
  while (!contents.empty()) {
    ++number;
    const size_t end = contents.find('\n');
    expect(end != std::string_view::npos, ErrorKind::file,
           "{}, line {}: the newline at the end is missing; is the file cut off?", name, number);
    const std::string_view line = contents.substr(0, end);
    contents.remove_prefix(end + 1);
    if (number <= kSpecials) {
      const std::string_view special = kSpecialNames[static_cast<size_t>(number - 1)];
      expect(line == special, ErrorKind::file, "{}, line {}: must be {}, but is '{}'", name, number, special, line);
      continue;
    }
    std::string token = token_of(line, name, number);
    const int32_t before = made.id(token);
    const bool is_new = made.insert(std::move(token));
    expect(is_new, ErrorKind::file, "{}, line {}: '{}' appears twice, first in line {}", name, number, line,
           before == kUnknown ? std::find(kSpecialNames.begin(), kSpecialNames.end(), line) - kSpecialNames.begin() + 1
                              : before + 1);
  }
  expect(number >= kSpecials, ErrorKind::file, "{}: has {} lines; the first {} must be <unk>, <s> and </s>", name,
         number, kSpecials);
  return made;
}

void Vocabulary::save(const std::filesystem::path& path) const { write_file(path, contents()); }

std::string Vocabulary::contents() const {
  std::string text;
  for (const std::string& token : tokens_) text += escaped(token) + '\n';
  return text;
}

int32_t Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? kUnknown : found->second;
}

const std::string& Vocabulary::token(int32_t id) const {
  expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
  return tokens_[static_cast<size_t>(id)];
}

}  // namespace heed::text
