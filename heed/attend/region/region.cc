#include "heed/attend/region/region.h"

#include <fmt/format.h>

namespace heed::attend {

std::string refuse_no_window(const Options& o, const Parts&) {
  if (o.window >= 0) return "";
  return fmt::format("region = \"{}\" needs a window of 0 or more keys, not {}", o.region, o.window);
}

}  // namespace heed::attend
