// Tokens and their ids.
// The file has one token per line, the id is the line number from 0, and the first three lines are <unk>, <s>, </s>.
// UTF-8, every line ends with a newline. Characters that would break a line or be invisible are escaped:
//
//   \n newline   \r carriage return   \t tab   \s blank   \0 the byte 0   \\ backslash
//
// Nothing else is escaped, and these always are: each token has one spelling. A token holds no control character but
// the tab (heed/text/utf8.h): a file with one is refused, and in training texts they are unknown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/text/tokens.h"

namespace heed::text {

/// Lets unordered_map find a string_view without making a string.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// How often each token was seen.
class TokenCounts {
 public:
  void add(std::string_view token, int64_t times = 1);
  int64_t count(std::string_view token) const;
  auto begin() const { return counts_.begin(); }
  auto end() const { return counts_.end(); }

 private:
  std::unordered_map<std::string, int64_t, StringHash, std::equal_to<>> counts_;
};

struct VocabularyOptions {
  int64_t max_size = 0;   // most entries, including <unk>, <s> and </s>; 0: no limit
  int64_t min_count = 1;  // a token seen less often is unknown
};

class Vocabulary {
 public:
  /// The most frequent first; in a tie, in byte order. A token spelt like a special one gets no entry: "<unk>" in a
  /// text is unknown, and no text can contain an end.
  static Vocabulary from_counts(const TokenCounts& counts, const VocabularyOptions& options = {});
  /// The same for tokens that are not there yet, which come after those that are.
  void add(const TokenCounts& counts, const VocabularyOptions& options = {});

  /// From the file, or from what it holds; `name` is for the messages. Throws Error with the number of the line.
  static Vocabulary load(const std::filesystem::path& path);
  static Vocabulary parse(std::string_view contents, std::string_view name);

  void save(const std::filesystem::path& path) const;
  std::string contents() const;

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }

  /// kUnknown if there is none. The names of the special tokens do not count.
  int32_t id(std::string_view token) const;

  /// The token of an id, including special ones. Throws Error if there is no such id.
  const std::string& token(int32_t id) const;

 private:
  Vocabulary();
  bool insert(std::string token);  // false: it already exists

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>> ids_;  // without the special ones
};

}  // namespace heed::text
