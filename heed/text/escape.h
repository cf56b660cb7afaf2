// Tokens in files with one on each line: what would break a line, or could not be seen, is written after a backslash:
//
//   \n newline   \r carriage return   \t tab   \s blank   \0 the byte 0   \\ backslash
//
// Nothing else is escaped, and these always are: each token has one spelling.
#pragma once

#include <string>
#include <string_view>

namespace heed::text {

std::string escaped(std::string_view token);

/// The token written as `line`. Throws if `line` breaks the rules, is empty or not UTF-8. `where` is for the message.
std::string unescaped(std::string_view line, std::string_view where);

}  // namespace heed::text
