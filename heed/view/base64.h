// Bytes as text, as JSON and data: addresses hold them.
#pragma once

#include <string>

namespace heed::view {

std::string base64(const std::string& bytes);

}  // namespace heed::view
