// The allowed values of an option: a range of numbers, or one of several words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/base/choice.h"

namespace heed::file {

/// For a list, the limit applies to each number or word.
struct Limit {
  struct Bound {
    double value = 0.0;
    bool included = true;
  };
  std::optional<Bound> least = {}, most = {};
  std::vector<std::string> words = {};  // none: any
  std::vector<Renamed> renamed = {};    // what some of them were called before: read as the words of today
  bool or_empty = false;                // an empty text is allowed too
  bool needed = false;                  // a text or a list must not be empty

  static Limit at_least(double least) { return {.least = Bound{least}}; }
  static Limit above(double least) { return {.least = Bound{least, false}}; }
  static Limit between(double least, double most) { return {.least = Bound{least}, .most = Bound{most}}; }
  static Limit from_to_below(double least, double most) { return {.least = Bound{least}, .most = Bound{most, false}}; }
  static Limit one_of(std::vector<std::string> words) { return {.words = std::move(words)}; }
  template <class Value, size_t n>
  static Limit one_of(const Choice<Value> (&choices)[n]) {
    return {.words = words_of(choices), .renamed = renamed_words_of(choices)};
  }
  /// Of heed/base/list.h.
  template <class List>
  requires requires(const List& list) { list.renamed(); }
  static Limit one_of(const List& list) { return {.words = list.names(), .renamed = list.renamed()}; }
  static Limit one_of_or_empty(std::vector<std::string> words) { return {.words = std::move(words), .or_empty = true}; }
  static Limit not_empty() { return {.needed = true}; }

  /// What a former word is called now; null if it is none.
  const std::string* word_now(std::string_view word) const;

  std::string text() const;  // "from 1 to 8", "above 0", "one of adam, sgd"; empty if anything is allowed
};

inline constexpr const char* kAuto = "auto";

/// A pointer to an option. One that may be true, false or neither is "auto" where it is neither.
using Target =
    std::variant<bool*, std::optional<bool>*, int32_t*, int64_t*, uint64_t*, float*, double*, std::string*,
                 std::filesystem::path*, std::vector<int64_t>*, std::vector<double>*, std::vector<std::string>*>;

/// Why the value is not allowed, for example "must be at least 1, not 0"; empty if it is. Numbers must be finite.
std::string problem_of(bool value, const Limit& limit);
std::string problem_of(std::optional<bool> value, const Limit& limit);
std::string problem_of(int64_t value, const Limit& limit);
std::string problem_of(uint64_t value, const Limit& limit);
std::string problem_of(double value, const Limit& limit);
std::string problem_of(const std::string& value, const Limit& limit);
std::string problem_of(const std::filesystem::path& value, const Limit& limit);
std::string problem_of(const Target& target, const Limit& limit);

}  // namespace heed::file
