// For long work between operations on a tape, each of which asks by itself.
#pragma once

namespace heed {

/// Throws Interrupted (error.h) where the caller wants no more of what this thread does: kernels/interrupt.h.
void stop_if_interrupted();

/// The same question, for where nothing may be thrown: in a callback of a C library.
bool is_interrupted() noexcept;

}  // namespace heed
