#include "heed/attend/score/score.h"

#include <fmt/format.h>

namespace heed::attend {

std::string refuse_unequal_widths(const Options& o, const Parts&) {
  if (o.query_width == o.key_width) return "";
  return fmt::format(
      "{} multiplies q and k directly, so a query of width {} does not fit a key of width {}; general, additive and "
      "projected accept any widths",
      o.score, o.query_width, o.key_width);
}

}  // namespace heed::attend
