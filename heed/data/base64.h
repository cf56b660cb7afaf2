// Bytes in the letters of base64, as browsers put files into addresses.
#pragma once

#include <string>
#include <string_view>

namespace heed::data {

/// RFC 4648, section 4, and nothing else: three bytes in four letters, the last group filled with '='. Throws Error for
/// anything else. Memory is given only for what is there; `what` names it if there is too little.
std::string from_base64(std::string_view text, std::string_view what);

}  // namespace heed::data
