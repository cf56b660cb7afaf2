#include "heed/view/document.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::view {

std::vector<float> Map::of_head(int64_t head) const {
  const int64_t count = rows * columns, first = head < 0 ? 0 : head, last = head < 0 ? heads : head + 1;
  expect(head < heads, "head {}: '{}' has {}", head + 1, name, heads);
  std::vector<float> mean(static_cast<size_t>(count), 0.0f);
  for (int64_t h = first; h < last; ++h)
    for (int64_t n = 0; n < count; ++n)
      mean[static_cast<size_t>(n)] += weights[static_cast<size_t>(h * count + n)] / static_cast<float>(last - first);
  return mean;
}

std::vector<float> Map::mean_row(int64_t head) const {
  const std::vector<float> all = of_head(head);
  std::vector<float> mean(static_cast<size_t>(columns), 0.0f);
  for (int64_t n = 0; n < rows * columns; ++n)
    mean[static_cast<size_t>(n % columns)] += all[static_cast<size_t>(n)] / static_cast<float>(rows);
  return mean;
}

const Sequence& Example::sequence(const std::string& wanted) const {
  const auto found =
      std::find_if(sequences.begin(), sequences.end(), [&](const Sequence& s) { return s.name == wanted; });
  expect(found != sequences.end(), ErrorKind::bug, "view: there is no sequence '{}'", wanted);
  return *found;
}

const Map* Example::find(const std::string& wanted) const {
  const auto found = std::find_if(maps.begin(), maps.end(), [&](const Map& m) { return m.name == wanted; });
  return found == maps.end() ? nullptr : &*found;
}

const Map* Example::main_map() const {
  // Decoders and pooling come last in a model, and in a decoder the attention to the source follows its own.
  return maps.empty() ? nullptr : &maps.back();
}

}  // namespace heed::view
