// A list of entries: all there is of one kind (encoders, tasks, metrics, ...), by name. What users may write, the
// messages about what they wrote, and the tests of a kind follow from its list.
//
// Where an entry is a file, the header of the list names them in one line, and the list is made from the same line:
//
//   #define HEED_ENCODERS(X) X(recurrent) X(transformer)         all.h: a new encoder is a file, and a word here
//   #define HEED_DECLARE(name) extern const EncoderEntry name##_encoder;
//   HEED_ENCODERS(HEED_DECLARE)
//   #undef HEED_DECLARE
//
//   #define HEED_ADDRESS(name) &name##_encoder,                  all.cc
//   static const List<EncoderEntry> list("encoder", {HEED_ENCODERS(HEED_ADDRESS)});
//   #undef HEED_ADDRESS
//
// Where an entry is a line, the list is made of a table, an array of entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/base/renamed.h"

namespace heed {

/// The words of a text, between blanks.
std::vector<std::string> words_in(std::string_view text);

/// An entry has a `name`. It may have, each as words between blanks: `aliases`, which are names like the first, and
/// `former_names`, which older recipes and programs may say: they are understood, and never offered.
/// The entries must outlive the list. Threads: many may read it, or one may add to it.
template <class Entry>
class List {
 public:
  using value_type = const Entry*;
  using const_iterator = typename std::vector<const Entry*>::const_iterator;

  /// `what` an entry is, for messages: "encoder".
  List(const char* what, std::initializer_list<const Entry*> entries) : what_(what), entries_(entries) {}
  List(const char* what, std::span<const Entry> table) : what_(what) {
    for (const Entry& entry : table) entries_.push_back(&entry);
  }

  const std::vector<const Entry*>& entries() const { return entries_; }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  const Entry* front() const { return entries_.front(); }

  /// What may be written: the name of each entry, then its aliases.
  std::vector<std::string> names() const {
    return names([](const Entry&) { return true; });
  }
  /// Of the entries that `chosen(entry)` holds for.
  template <class Chosen>
  std::vector<std::string> names(const Chosen& chosen) const {
    std::vector<std::string> all;
    for (const Entry* entry : entries_)
      if (chosen(*entry))
        for (std::string& name : offered(*entry)) all.push_back(std::move(name));
    return all;
  }

  /// What the former names are called now.
  std::vector<Renamed> renamed() const {
    std::vector<Renamed> all;
    for (const Entry* entry : entries_)
      for (std::string& name : former(*entry)) all.push_back({std::move(name), std::string(entry->name)});
    return all;
  }

  /// By name, alias or former name; null if there is none.
  const Entry* look_up(std::string_view name) const {
    for (const Entry* entry : entries_)
      if (has(offered(*entry), name)) return entry;
    for (const Entry* entry : entries_)
      if (has(former(*entry), name)) return entry;
    return nullptr;
  }
  /// The same. Throws Error, naming the nearest, if there is none.
  const Entry& find(std::string_view name) const {
    const Entry* entry = look_up(name);
    if (!entry) throw Error(unknown_name(what_, name, names()));
    return *entry;
  }

  /// Throws Error if one of its names is taken.
  void add(const Entry& entry) {
    for (const std::vector<std::string>& names : {offered(entry), former(entry)})
      for (const std::string& name : names) expect(!look_up(name), "{}: there is already a '{}'", what_, name);
    entries_.push_back(&entry);
  }

 private:
  static std::vector<std::string> offered(const Entry& entry) {
    std::vector<std::string> names = {std::string(entry.name)};
    if constexpr (requires { entry.aliases; })
      for (std::string& alias : words_in(entry.aliases)) names.push_back(std::move(alias));
    return names;
  }
  static std::vector<std::string> former([[maybe_unused]] const Entry& entry) {
    if constexpr (requires { entry.former_names; }) return words_in(entry.former_names);
    return {};
  }
  static bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  const char* what_;
  std::vector<const Entry*> entries_;
};

}  // namespace heed
