#include "heed/data/reverse.h"

#include <string>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::data {

Pairs reverse_pairs(int64_t count, uint64_t seed, const ReverseOptions& options) {
  expect(options.min_length >= 1 && options.min_length <= options.max_length,
         "reverse: lengths from {} to {}: the first must be at least 1, and not above the second", options.min_length,
         options.max_length);
  const std::string_view alphabet = options.letters ? "0123456789abcdefghijklmnopqrstuvwxyz" : "0123456789";
  expect(options.max_length >= (options.letters ? 3 : 4),
         "reverse: max_length {} allows too few different strings to keep training and test data apart",
         options.max_length);
  text::Random random(seed);
  Pairs pairs;
  while (pairs.size() < count) {
    const auto lengths = static_cast<uint64_t>(options.max_length - options.min_length + 1);
    std::string text(static_cast<size_t>(options.min_length) + random.below(lengths), ' ');
    for (char& c : text) c = alphabet[random.below(alphabet.size())];
    const std::string reversed(text.rbegin(), text.rend());
    if (split_of(text, reversed) == options.split) pairs.add(text, reversed, pairs.size() + 1);
  }
  return pairs;
}

}  // namespace heed::data
