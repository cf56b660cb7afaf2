// Whether the first line of a file names its columns: "word TAB ipa".
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

/// Whether every cell says what a column holds: "source", "text_en", "IPA", or a language ("en", "German"), and no two
/// say the same.
bool names_columns(std::span<const std::string_view> cells);

/// Sees the lines of a file in order and then knows whether the first is a header.
///
/// It is one if it names columns, as above, and no other line does, and none of its cells comes again in its column: a
/// word list may well hold the line "question TAB answer", but then it holds more such lines. Names that are not known
/// ("kommentar TAB stimmung") are recognised before texts with labels: single words before lines of several, and a
/// label that no other text has, where the others come again and again.
class HeaderWatch {
 public:
  /// `number`: of the line, from 1; without line 1 there is no header. `cells`: the columns that are used, the target
  /// last. Only the first lines matter.
  void see(int64_t number, std::span<const std::string_view> cells);

  bool first_is_header() const;
  /// Not a header by these rules, but one name among single words: worth a question.
  bool first_may_be_header() const;
  std::string first() const;  // "'word', 'ipa'"

 private:
  bool looks_like_header_of_labels() const;

  int64_t lines_ = 0;  // after the first
  int64_t words_ = 0;  // of their sources
  std::vector<std::string> first_;
  bool is_named_ = false;      // the first names columns
  bool others_named_ = false;  // and so does another line
  bool comes_again_ = false;   // a cell of the first, in its column
  std::set<std::string, std::less<>> targets_;
};

}  // namespace heed::data
