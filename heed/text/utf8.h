// UTF-8: whether it is valid, and where each code point starts.
//
// "Characters" are code points here, not grapheme clusters (what a reader sees as one letter). Code points make a
// small, closed vocabulary (a Devanagari text has thousands of clusters, but some 80 code points), concatenating them
// gives the text back byte for byte, and where one ends does not change from one version of Unicode to the next.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace heed::text {

/// Position of the first byte that does not belong to valid UTF-8: a stray or missing continuation byte, an overlong
/// form, a surrogate, a code point above U+10FFFF. For a broken sequence, its first byte. npos if everything is valid.
size_t utf8_fault(std::string_view text);

/// "byte 7 is not valid UTF-8", or nothing.
std::string utf8_complaint(std::string_view text);

/// Position of the first control character (U+0000 to U+001F without the tab, U+007F to U+009F) of valid UTF-8; npos if
/// there is none. One of them in an output would end its line early, or control a terminal.
size_t find_control(std::string_view text, size_t from = 0);

/// The number of code points of valid UTF-8.
size_t utf8_count(std::string_view text);

/// The code points of valid UTF-8, one after another, each as its bytes. Nothing is copied:
///
///   for (std::string_view character : CodePoints(text)) ...
class CodePoints {
 public:
  explicit CodePoints(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    std::string_view operator*() const { return rest_.substr(0, length(rest_.front())); }
    Iterator& operator++() {
      const size_t n = length(rest_.front());
      rest_.remove_prefix(n < rest_.size() ? n : rest_.size());
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    static size_t length(char first) {
      const auto byte = static_cast<unsigned char>(first);
      return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    }
    std::string_view rest_;
  };

  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return Iterator(text_.substr(text_.size())); }

 private:
  std::string_view text_;
};

}  // namespace heed::text
