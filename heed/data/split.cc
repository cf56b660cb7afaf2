#include "heed/data/split.h"

#include <cstdint>

#include "heed/base/random.h"

namespace heed::data {

Split split_of(std::string_view source, std::string_view target) {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3u; };
  for (const char c : source) add(static_cast<unsigned char>(c));
  add(0xFF);  // no part of UTF-8: "ab" and "c" are not "a" and "bc"
  for (const char c : target) add(static_cast<unsigned char>(c));
  const uint64_t part = text::Random(hash).below(20);
  return part == 0 ? Split::test : part == 1 ? Split::valid : Split::train;
}

}  // namespace heed::data
