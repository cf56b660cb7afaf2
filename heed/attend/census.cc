#include "heed/attend/census.h"

#include <algorithm>
#include <limits>

#include "heed/attend/all.h"

namespace heed::attend {

std::vector<Made> Census::at(std::string_view place) const {
  std::vector<Made> found;
  for (const Made& made : all_)
    if (made.place == place) found.push_back(made);
  return found;
}

int64_t Census::longest_memory() const {
  int64_t longest = std::numeric_limits<int64_t>::max();
  for (const Made& made : all_) longest = std::min(longest, attend::longest_memory(made.options));
  return longest;
}

std::unique_ptr<Mechanism> make_at(std::string_view place, int64_t layer, const Scope& scope, const Options& options) {
  const Options o = canonical(options);
  Census::note({scope.prefix(), o, std::string(place), layer});
  return find(o.structure, Part::structure).make_structure(scope, o);
}

}  // namespace heed::attend
