// JSON as a value: what manifests, states and logs are made of, and what the program prints. nlohmann-json is behind
// this, in json.cc: a source that includes it takes eight seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heed::file {

class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Members = std::vector<Member>;  // in the order they were added
  using Elements = std::vector<Json>;

  Json() = default;  // null
  // Not those of std::variant: where there is no memory for a copy, that of libstdc++ 12 destroys what it never made
  // (it takes a variant of strings and vectors for one that always holds something).
  Json(const Json& other) {
    std::visit([this](const auto& value) { value_ = value; }, other.value_);
  }
  Json& operator=(const Json& other) { return *this = Json(other); }
  Json(Json&&) noexcept = default;
  Json& operator=(Json&&) noexcept = default;
  ~Json() = default;
  Json(bool value) : value_(value) {}
  Json(std::signed_integral auto value) : value_(int64_t{value}) {}
  Json(std::unsigned_integral auto value) : value_(uint64_t{value}) {}
  Json(std::floating_point auto value) : value_(double{value}) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  template <class T>
  Json(const std::vector<T>& values) : value_(Elements(values.begin(), values.end())) {}

  static Json object(std::initializer_list<Member> members = {}) { return Json(Members(members)); }
  static Json object(Members members) { return Json(std::move(members)); }
  static Json array(Elements elements = {}) { return Json(std::move(elements)); }

  static constexpr size_t kDeepest = 100;  // objects and arrays inside each other, in what is read

  /// None where the text is no JSON, or is nested deeper than kDeepest. Of members with the same name the last counts.
  static std::optional<Json> parse(std::string_view text);

  /// On one line, or with `indent` blanks for each level. Throws Error for texts that are not UTF-8.
  std::string text(int indent = -1) const;
  /// The same; what is not UTF-8 is replaced by U+FFFD.
  std::string line(int indent = -1) const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  /// The value if it is a T: bool, int64_t (below 0), uint64_t, double, std::string, Members or Elements; else null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  /// "null", "boolean", "number", "string", "object" or "array".
  const char* kind() const;

  /// The member of an object; null where there is none, or this is no object.
  const Json* find(std::string_view name) const;
  /// The member of an object, which is added where there is none. null becomes an object.
  Json& operator[](std::string_view name);
  /// null becomes an array.
  void push_back(Json element);

 private:
  explicit Json(Members members) : value_(std::move(members)) {}
  explicit Json(Elements elements) : value_(std::move(elements)) {}

  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Members, Elements> value_;
};

}  // namespace heed::file
