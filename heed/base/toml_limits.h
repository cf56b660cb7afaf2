// What a TOML text may ask of its parser, which calls itself for every level and part: a text from an untrusted model
// must neither exhaust the stack nor take minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::file {

/// Far beyond what any recipe has.
struct TomlLimits {
  int64_t parts = 32;        // of a dotted key
  int64_t depth = 32;        // of lists and tables inside each other
  int64_t key_bytes = 1024;  // of a key with all its parts
  int64_t keys = 10'000;     // with the headers of sections
  int64_t values = 200'000;  // with those in lists
};

struct TomlExcess {
  int64_t line = 0;  // from 1
  std::string what;  // "a key of more than 32 parts"
};

/// Where a text exceeds a limit first; none if nowhere. Whether it is TOML at all is left to the parser.
std::optional<TomlExcess> excess_of(std::string_view toml, const TomlLimits& limits = {});

}  // namespace heed::file
