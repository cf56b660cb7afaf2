// The part that says which keys a query may see. Several hold together.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/attend/call.h"
#include "heed/attend/all.h"

namespace heed::attend {

class Region {
 public:
  virtual ~Region() = default;
  virtual void configure(CallContext& c) const = 0;
};

/// True where `word` is one of the words of a region such as "causal+sliding_window".
bool has_region(const Options& options, std::string_view word);

/// For regions with a window.
std::string refuse_no_window(const Options& options);

}  // namespace heed::attend
