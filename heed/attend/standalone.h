// A mechanism with parameters of its own, made from a name and options alone: for attend() on arrays (attend.h), and
// for Python, whose attentions are such.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/attend/options.h"
#include "heed/attend/parts.h"
#include "heed/layer/parameters.h"

namespace heed::attend {

/// The names of the options that differ from their defaults.
std::vector<std::string> changed(const Options& options);

struct Standalone {
  /// `given` names the settings that were given: they win over what the name of the mechanism sets. Throws with every
  /// reason why they make none, or have no effect.
  Standalone(std::string_view name, const Options& settings, const std::vector<std::string>& given, uint64_t seed);

  Options options;
  Parameters parameters;
  std::unique_ptr<Mechanism> mechanism;
  Parts parts;
};

}  // namespace heed::attend
