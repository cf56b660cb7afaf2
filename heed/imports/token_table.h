// The tokens of another program's tokeniser by their ids, from its files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::imports {

/// Whether it is a text that says exactly this. False for null.
bool says(const file::Json* json, std::string_view word);

/// Without their ends, which may be \r\n.
std::vector<std::string> lines_of_file(const std::filesystem::path& path);

/// Fills two lists of others. Errors name the file.
class TokenTable {
 public:
  /// `tokens`: by id; empty: no token has it. `special`: ids that no text is cut into.
  TokenTable(std::vector<std::string>& tokens, std::set<int64_t>& special, std::string file)
      : tokens_(tokens), special_(special), file_(std::move(file)) {}

  /// An object of tokens and their ids.
  void read_vocabulary(const file::Json* vocabulary);
  /// "added_tokens" of a tokenizer.json: all are special.
  void read_added(const file::Json& json);
  /// Whether added_tokens says that one is special.
  bool is_marked_special(size_t id) const { return marked_.contains(static_cast<int64_t>(id)); }

 private:
  void set(const file::Json& id, const std::string& token);

  std::vector<std::string>& tokens_;
  std::set<int64_t>& special_;
  std::set<int64_t> marked_;
  std::string file_;
};

}  // namespace heed::imports
