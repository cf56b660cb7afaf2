// Whether a browser asks on behalf of a page that has no business here.
//
// A page in somebody's browser may only ask its own server. Whoever owns the name of that server can let it point to
// 127.0.0.1 a moment later: then the browser takes what listens here for that server, and hands its answers to the
// page. Such a request still says the name, in its Host. Addresses and localhost belong to nobody who could do that.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heed::serve {

/// `host`: of the request, "models.example.org:8080"; empty: it had none, so no browser sent it. `names`: those that
/// may be used besides addresses and localhost, in any case.
bool is_called_rightly(std::string_view host, std::span<const std::string> names);

}  // namespace heed::serve
