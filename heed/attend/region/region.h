// The part that says which keys a query may see. Several can be combined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "heed/attend/all.h"
#include "heed/attend/call.h"

namespace heed::attend {

/// Threads: as Mechanism.
class Region {
 public:
  virtual ~Region() = default;
  virtual void configure(CallContext& c) const = 0;
};

/// Combines a window's bound with another: the narrower one. -1: none yet.
inline void narrow(int64_t& bound, int64_t limit) { bound = bound < 0 ? limit : std::min(bound, limit); }

/// For regions with a window.
std::string refuse_no_window(const Options& options, const Parts&);

}  // namespace heed::attend
