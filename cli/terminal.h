// Text for a terminal: its width, its colours, wrapped paragraphs and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// What standard output can show.
class Terminal {
 public:
  Terminal();               // colours where it is a terminal and NO_COLOR is not set
  static Terminal plain();  // a file: no colours

  size_t width() const { return width_; }
  bool interactive() const { return interactive_; }  // it is a terminal, and lines on it can be written again
  bool colour() const { return colour_; }
  std::string bold(std::string_view text) const { return painted(text, "1"); }
  std::string faint(std::string_view text) const { return painted(text, "2"); }
  std::string green(std::string_view text) const { return painted(text, "32"); }
  std::string red(std::string_view text) const { return painted(text, "31"); }

 private:
  std::string painted(std::string_view text, const char* code) const;

  bool interactive_ = false, colour_ = false;
  size_t width_ = 80;
};

/// Lines of at most `width` columns, broken at blanks; a word that is longer stands alone. A newline in the text breaks
/// too, and two make an empty line.
std::vector<std::string> wrap(std::string_view text, size_t width);

/// The same as one text, every line behind `indent` blanks.
std::string paragraph(std::string_view text, size_t indent, size_t width);

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell, two blanks between them. The last column is wrapped to what `width` leaves.
/// The cells of column `strong` are bold.
std::string table(const std::vector<Row>& rows, const Terminal& terminal, size_t strong, size_t indent = 2);

/// Writes to standard output. A reader that has gone away (heed ... | head) is no error; a full disk is.
void print(std::string_view text);

/// Writes to standard error. What cannot be written there is lost: the work that it tells about goes on.
void note(std::string_view text);

/// Standard input, output or error that the program was started without (2>&-) would be the next file that is opened,
/// and messages would go into it. Something else takes their places: input and output that fail, as closed ones do, and
/// an error that forgets.
void occupy_standard_streams();

/// After print(): nobody reads standard output any more.
bool reader_is_gone();

}  // namespace heed::cli
