// The members of a JSON body, each taken by name with its type and range. What is left at the end is a mistake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/serve/failure.h"

namespace heed::serve {

/// Throws Failure, whose message names the member, what was expected and what came.
class Members {
 public:
  /// The body of a request: one object.
  explicit Members(std::string_view body);
  /// An object inside it; `where` is its place: "pairs[2]".
  Members(const file::Json& object, std::string where);

  // Each of these leaves `value` as it is if the member is missing or null, and returns whether it was there.
  bool take(const char* name, std::string& value);
  bool take(const char* name, bool& value);
  bool take(const char* name, int64_t& value, int64_t least, int64_t most);
  bool take(const char* name, uint64_t& value);
  bool take(const char* name, double& value, double least, double most);
  bool take(const char* name, std::vector<std::string>& values);
  bool take(const char* name, std::vector<int64_t>& values, int64_t least, int64_t most);
  /// "text" or ["text", ..]
  bool take_one_or_more(const char* name, std::vector<std::string>& values);
  /// One of these words.
  bool take(const char* name, std::string& value, const std::vector<std::string>& words);
  /// The elements of an array.
  const file::Json::Elements* take_elements(const char* name);

  bool has(const char* name) const;
  void ignore(const char* name) { find(name); }
  /// Throws if a member has not been taken: it is misspelt, or not for this.
  void finish() const;

  [[noreturn]] void refuse(const char* name, std::string_view expected) const;

 private:
  const file::Json* find(const char* name);
  static bool is_whole(const file::Json& json, int64_t& value);
  std::string place(std::string_view name) const;

  file::Json own_;
  const file::Json* object_;
  std::string where_;
  std::vector<std::string> known_;
};

}  // namespace heed::serve
