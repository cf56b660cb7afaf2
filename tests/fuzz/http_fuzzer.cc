// Bytes -> requests, as heed serve reads them. The first byte says in which pieces they arrive: that must not matter.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "heed/serve/request_reader.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

using namespace heed::serve;

constexpr ReadLimits kLimits = {.header = 1 << 20, .body = 256};
constexpr ReadLimits kNarrow = {.header = 100, .body = 10};

/// What a connection makes of the bytes: its requests, and how it ends.
struct Read {
  std::vector<std::string> requests = {};
  int refused = 0;     // the status; 0: it was not
  bool waits = false;  // for more of a request
};

std::string text_of(const Request& r, const ReadLimits& limits) {
  require(r.body.size() <= limits.body, "a body beyond the limit");
  require(!r.method.empty(), "a request without a method");
  require(r.path.find('?') == std::string::npos && r.path.find('\0') == std::string::npos,
          "a path with more than a path");
  require(r.id.size() <= 128, "an id that is too long");
  require(r.id.find_first_of("\r\n") == std::string::npos, "an id that could end a header");
  return r.method + '\n' + r.path + '\n' + r.content_type + '\n' + r.authorisation + '\n' + r.origin + '\n' + r.id +
         '\n' + (r.keep_alive ? "keep" : "close") + (r.chunks ? " chunks\n" : "\n") + r.body;
}

Read read(std::string_view bytes, size_t piece, const ReadLimits& limits = kLimits) {
  RequestReader reader(limits);
  Read found;
  for (size_t at = 0; at < bytes.size() && !reader.refused(); at += piece) {
    reader.put(bytes.substr(at, piece));
    reader.take_expectation();
    while (reader.done()) {
      found.requests.push_back(text_of(reader.take(), limits));
      require(found.requests.size() <= bytes.size(), "requests from nothing");
    }
  }
  if (reader.refused()) {
    found.refused = reader.why().status();
    require(found.refused >= 400 && found.refused < 600, "refused with a strange status");
    require(reader.why().message().size() > 10, "refused without a reason");
    require(!reader.done(), "refused and done");
  }
  found.waits = !reader.refused() && reader.begun();
  return found;
}

void check_http(std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t piece = 1 + static_cast<unsigned char>(bytes.front()) % 64;
  bytes.remove_prefix(1);
  const Read whole = read(bytes, std::max<size_t>(bytes.size(), 1)), cut = read(bytes, piece);
  read(bytes, piece, kNarrow);  // pieces decide here which limit is seen first
  require(whole.requests == cut.requests, "other requests in pieces than as a whole");
  // A mistake in a header may be seen before its end or only there. Of two, pieces may show the other one first.
  if (!whole.waits && !cut.waits)
    require((whole.refused == 0) == (cut.refused == 0), "refused in one of two ways only");
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_http({reinterpret_cast<const char*>(data), size});
  return 0;
}
