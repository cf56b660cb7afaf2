// A pickle of Python, read as data: numbers, texts, lists, dictionaries, and objects as their names with what they
// were made of. Nothing is called, nothing is imported, so nothing in such a file can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/imports/bytes_reader.h"

namespace heed::imports {

/// A value. Those inside it belong to the Pickle that it came from; they may stand in several places, and in
/// themselves.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,
    text,        // or bytes
    list,        // tuples and sets too
    dictionary,  // items holds keys and values in turn
    global,      // the name of a class or a function: "torch FloatStorage"
    object,      // what a global would make: items are the global, what it would be called with, and perhaps its state
    persistent,  // of another part of the file: items holds what names it
  };
  Kind kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::vector<const PickleValue*> items = {};

  bool is(Kind wanted) const { return kind == wanted; }
  /// Of an object made by this global: "collections OrderedDict".
  bool is_made_by(std::string_view global) const;
  /// A dictionary's value under a text, also that of an object which is one (OrderedDict, Namespace, Counter). Null:
  /// there is none.
  const PickleValue* find(std::string_view key) const;
  /// visit(key, value) for each pair of a dictionary, or of an object that is one.
  template <class Visit>
  void each_pair(const Visit& visit) const {
    for (const PickleValue* part : parts())
      for (size_t i = 0; i + 1 < part->items.size(); i += 2) visit(*part->items[i], *part->items[i + 1]);
  }

 private:
  std::vector<const PickleValue*> parts() const;  // dictionaries
};

/// Threads: many may read it at once.
class Pickle {
 public:
  /// Reads one, protocols 0 to 5 as far as data goes, from where `from` stands. Throws, naming the file, for what is
  /// damaged or not known.
  Pickle(BytesReader& from, std::string file);

  const PickleValue& root() const { return *root_; }
  /// visit(value) for every value that is there, wherever it stands.
  template <class Visit>
  void each_value(const Visit& visit) const {
    for (const PickleValue& value : values_) visit(value);
  }

 private:
  friend class PickleReader;
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace heed::imports
