// The part that says how attention moves from one step of the target to the next.
#pragma once

#include <memory>

#include "heed/attend/all.h"
#include "heed/attend/call.h"

namespace heed::attend {

class Attention;

/// Threads: as Mechanism.
class Time {
 public:
  virtual ~Time() = default;

  /// A whole call; usually one run of the loop.
  virtual Attended attend(const Attention& attention, const AttendArguments& asked) const;
  /// What this part adds to a run of the loop ...
  virtual void configure(CallContext&, const Request&) const {}
  /// ... and keeps of its result.
  virtual void keep(const AttentionResult&, State&) const {}
};

}  // namespace heed::attend
