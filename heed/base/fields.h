// The keys of a commented TOML file, parsed once into typed options.
//
//   struct Options { int64_t steps = 1000; float rate = 1e-3f; std::string optimiser = "adam"; } options;
//   Fields fields;
//   fields.section("train", "How long and how fast.");
//   fields.add("train.steps", options.steps, "updates in all", Limit::at_least(1));
//   fields.add("train.rate", options.rate, "of learning", Limit::above(0));
//   fields.add("train.optimiser", options.optimiser, "", Limit::one_of({"adam", "sgd"}));
//   attend::each_option(attention, fields.visitor("attention"));   // a whole struct at once
//   fields.read("recipe.toml", overrides);                         // {"train.steps=2000"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/limit.h"

namespace heed::file {

inline constexpr uint64_t kLargestFields = uint64_t{1} << 24;  // bytes of a file

/// A key that has two values, in TOML.
struct FieldDifference {
  std::string key, here, there;
};

class Fields {
 public:
  void section(std::string name, std::string help);

  /// `key` is "section.name", or "name" for the top of the file. `value` holds the default, and later the recipe's
  /// value; it must outlive this object. If `limit` forbids the default, every recipe must set the key.
  template <class T>
  void add(std::string key, T& value, std::string help, Limit limit = {}) {
    add_target(std::move(key), Target(&value), std::move(help), std::move(limit));
  }
  void limit(std::string_view key, Limit limit);  // of a key that was already added
  /// What a key was called before: it is read as that key.
  void former_key(std::string before, std::string key);

  /// Keys of a section, and of sections inside it, that exist once they are named. `declare` adds the key and returns
  /// an empty text, or says why there is no such key; nothing: it is none of them. Its targets must outlive this
  /// object.
  using Declare = std::function<std::optional<std::string>(Fields& fields, const std::string& key)>;
  void on_demand(std::string section, Declare declare);
  /// A key that `declare` adds: text() has only those that were named, and for differences() one may lack it.
  template <class T>
  void add_on_demand(std::string key, T& value, std::string help, Limit limit = {}) {
    add(std::move(key), value, std::move(help), std::move(limit));
    fields_.back().on_demand = true;
  }
  /// Those of them that were named.
  std::set<std::string> keys_on_demand() const;
  /// Whether there is this key, or there would be once it is named.
  bool knows(const std::string& key);

  /// Of a file that others read too: keys of this section that were not added are not looked at.
  void pass_over(std::string section);

  /// For structs that can be visited: adds each member as section.name.
  auto visitor(std::string section) {
    return [this, section = std::move(section)](const char* name, auto& value, const char* help) {
      add(section + "." + name, value, help);
    };
  }

  /// Fills the options from TOML, then from `overrides`, each "section.name=value" as after --set, where a text needs
  /// no quotes. Returns the keys that were given. Throws one Error with a line for every mistake; valid options are
  /// filled anyway. Former keys and words are read as those of today, and `notes` says so, once each.
  std::set<std::string> parse(std::string_view toml, std::string_view file, std::span<const std::string> overrides = {},
                              std::vector<std::string>* notes = nullptr);
  std::set<std::string> read(const std::filesystem::path& path, std::span<const std::string> overrides = {});

  /// All keys and values as TOML, with comments. parse(text()) changes nothing.
  std::string text() const;
  /// Only the keys that are not in `left_out`, without the comments.
  std::string short_text(const std::set<std::string>& left_out) const;

  std::set<std::string> keys() const;
  /// Every key with its value in TOML: "model.width" and "128".
  std::map<std::string, std::string> values() const;
  /// Every key with the words that it takes; none if it takes others, such as numbers.
  std::map<std::string, std::vector<std::string>> words() const;

  /// Copies the values of those of `keys` that both have, with the same type, and returns them. Keys on demand are
  /// added.
  std::set<std::string> copy(const Fields& from, const std::set<std::string>& keys);

  /// The keys that both have, with other values, and keys on demand that only one has, in the order of the alphabet.
  std::vector<FieldDifference> differences(const Fields& other) const;

 private:
  friend class RecipeReader;
  struct Field {
    std::string key, help;
    Target target;
    Limit limit;
    bool on_demand = false;

    std::string section() const { return key.substr(0, key.find('.') == std::string::npos ? 0 : key.rfind('.')); }
    std::string name() const { return key.substr(key.rfind('.') + 1); }  // npos + 1 is 0
  };
  struct Section {
    std::string name, help;
  };

  void add_target(std::string key, Target target, std::string help, Limit limit);
  const Field* find(std::string_view key) const;
  /// The key that is meant by a former one, or by another spelling of it; empty if there is none.
  std::string key_now(std::string_view key) const;
  /// Keys without a section come first: after a section they would belong to it.
  std::vector<Section> sections_in_order() const;
  static std::string value_text(const Field& field);
  /// Asks who declares keys on demand. Nothing: nobody knows it.
  std::optional<std::string> declare(const std::string& key);

  std::vector<Section> sections_;  // in the order they were named first
  std::set<std::string> passed_over_;
  std::vector<Field> fields_;
  std::vector<Renamed> former_keys_;
  std::vector<std::pair<std::string, Declare>> on_demand_;  // by section
};

/// The text of one key, if others depend on it; empty if it is missing or not a text.
std::string peek(std::string_view toml, std::string_view key, std::span<const std::string> overrides = {});
/// The whole number of one key; none if it is missing or something else.
std::optional<int64_t> peek_integer(std::string_view toml, std::string_view key);

/// The same text, comments and all, with another value for a key whose value is a text. Throws where that cannot be
/// read, or is not written as usual.
std::string with_text(std::string_view toml, std::string_view key, std::string_view value);

}  // namespace heed::file
