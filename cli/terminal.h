// Text for a terminal: its width, its colours, wrapped paragraphs and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// What standard output supports.
class Terminal {
 public:
  Terminal();               // colours if it is a terminal and NO_COLOR is not set
  static Terminal plain();  // a file: no colours

  size_t width() const { return width_; }
  size_t height() const { return height_; }          // lines; 24 if it is not known
  bool interactive() const { return interactive_; }  // a terminal on which lines can be redrawn
  bool colour() const { return colour_; }
  std::string bold(std::string_view text) const { return painted(text, "1"); }
  std::string faint(std::string_view text) const { return painted(text, "2"); }
  std::string green(std::string_view text) const { return painted(text, "32"); }
  std::string red(std::string_view text) const { return painted(text, "31"); }

 private:
  std::string painted(std::string_view text, const char* code) const;

  bool interactive_ = false, colour_ = false;
  size_t width_ = 80, height_ = 24;
};

/// Lines of at most `width` columns, broken at blanks; a longer word gets its own line. A newline in the text breaks
/// the line too, and two make an empty line.
std::vector<std::string> wrap(std::string_view text, size_t width);

/// The same as one text, every line indented by `indent` blanks.
std::string paragraph(std::string_view text, size_t indent, size_t width);

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell, two blanks between them. The last column is wrapped to what `width` leaves.
/// The cells of column `strong` are bold.
std::string table(const std::vector<Row>& rows, const Terminal& terminal, size_t strong, size_t indent = 2);

/// Writes to standard output. On a terminal, what could control it is made visible (heed/text/visible.h), except for
/// our own orders to it (order.h); to a file or a pipe everything is written as it is. A closed pipe (heed ... | head)
/// is no error; a full disk is.
void print(std::string_view text);

/// Writes to standard error, where what could control a terminal is always made visible. What cannot be written there
/// is lost, and the work continues.
void note(std::string_view text);

/// If the program is started with standard input, output or error closed (2>&-), the next file opened would get that
/// number, and messages would go into it. This opens /dev/null in their place, so that input and output still fail, as
/// closed ones do, and messages are dropped.
void occupy_standard_streams();

/// Whether print() found that nobody reads standard output any more.
bool reader_is_gone();

}  // namespace heed::cli
