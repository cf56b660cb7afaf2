// Every byte of UTF-8 is a token: nothing is unknown, whatever the script, and nothing is learned.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/text/tokeniser.h"

namespace heed::text {

inline const std::string kBytes = "bytes";

std::shared_ptr<const Tokeniser> bytes_tokeniser();

/// The same, if `contents` are those of it. `name` is for the message.
std::shared_ptr<const Tokeniser> parse_bytes(std::string_view contents, std::string_view name);

/// Valid UTF-8: U+FFFD in place of every byte that belongs to no character.
std::string repaired(std::string_view text);

}  // namespace heed::text
