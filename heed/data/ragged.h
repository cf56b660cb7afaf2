// Lists of different lengths, one after another in one array. Millions of small vectors would take two to three times
// the memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

/// List i holds values()[offsets()[i]] to values()[offsets()[i + 1]].
/// Threads: as a std::vector.
template <class T>
class Ragged {
 public:
  int64_t size() const { return std::ssize(offsets_) - 1; }
  int64_t length(int64_t i) const { return offsets_[static_cast<size_t>(i) + 1] - offsets_[static_cast<size_t>(i)]; }
  std::span<const T> operator[](int64_t i) const {
    return std::span(values_).subspan(static_cast<size_t>(offsets_[static_cast<size_t>(i)]),
                                      static_cast<size_t>(length(i)));
  }
  std::span<const T> values() const { return values_; }          // of all lists
  std::span<const int64_t> offsets() const { return offsets_; }  // [size() + 1]

  void add(std::span<const T> list) {
    values_.insert(values_.end(), list.begin(), list.end());
    offsets_.push_back(std::ssize(values_));
  }
  /// Room for so many lists, with so many values in all.
  void reserve(int64_t lists, int64_t values) {
    offsets_.reserve(static_cast<size_t>(lists) + 1);
    values_.reserve(static_cast<size_t>(values));
  }

 private:
  std::vector<T> values_;
  std::vector<int64_t> offsets_{0};
};

/// Sequences of ids.
using Sequences = Ragged<int32_t>;

}  // namespace heed::data
