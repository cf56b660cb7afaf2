#include "heed/serve/host_name.h"

#include <algorithm>

#include "heed/serve/http.h"

namespace heed::serve {

namespace {

/// No name ends in a number (RFC 1123, 2.1), so one of digits and dots is an address; as is what stands in brackets.
bool is_address(std::string_view name) {
  return name.front() == '[' || name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

bool is_called_rightly(std::string_view host, std::span<const std::string> names) {
  if (host.empty()) return true;
  const size_t colon = host.find(':', host.front() == '[' ? std::min(host.find(']'), host.size()) : 0);
  std::string_view name = host.substr(0, colon);
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);  // "localhost." is the same name
  if (name.empty()) return false;
  constexpr std::string_view kLocal = ".localhost";  // names below it are this machine's too (RFC 6761, 6.3)
  const bool local =
      equal_in_any_case(name, kLocal.substr(1)) ||
      (name.size() > kLocal.size() && equal_in_any_case(name.substr(name.size() - kLocal.size()), kLocal));
  return local || is_address(name) || std::any_of(names.begin(), names.end(), [&](const std::string& known) {
           return equal_in_any_case(name, known);
         });
}

}  // namespace heed::serve
