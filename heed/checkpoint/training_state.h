// The state of a training run: named numbers, texts and flags, as JSON. They are restored bit for bit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace heed::file {

class TrainingState {
 public:
  using Value = std::variant<bool, int64_t, uint64_t, double, std::string>;

  void set(std::string name, bool value) { values_[std::move(name)] = value; }
  void set(std::string name, int value) { values_[std::move(name)] = int64_t{value}; }
  void set(std::string name, int64_t value) { values_[std::move(name)] = value; }
  void set(std::string name, uint64_t value) { values_[std::move(name)] = value; }
  void set(std::string name, double value) { values_[std::move(name)] = value; }
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  void set(std::string name, const char* value) { values_[std::move(name)] = std::string(value); }

  /// The value of a name. Throws if there is no such name (suggesting the nearest) or the type differs.
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t least, int64_t most) const;  // throws if it is outside
  uint64_t natural(std::string_view name) const;                              // seeds: all 64 bits
  double real(std::string_view name) const;                                   // also infinities and nan
  const std::string& text(std::string_view name) const;
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

  std::string json() const;
  /// `file` names the text in errors.
  static TrainingState parse(std::string_view json, std::string_view file);

 private:
  const Value& at(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
  std::string name_ = "the state";  // for messages: the file that it was read from
};

}  // namespace heed::file
