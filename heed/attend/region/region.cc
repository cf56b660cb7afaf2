#include "heed/attend/region/region.h"

#include <fmt/format.h>

#include "heed/attend/region_words.h"

namespace heed::attend {

bool has_region(const Options& options, std::string_view word) {
  for (const auto& each : region_words(options.region))
    if (each == word) return true;
  return false;
}

std::string refuse_no_window(const Options& o) {
  if (o.window >= 0) return "";
  return fmt::format("region = \"{}\" needs a window of 0 or more keys, not {}", o.region, o.window);
}

}  // namespace heed::attend
