// How fast this machine reads memory with a given number of threads: the yardstick of the decode step.
#pragma once

#include <span>

namespace heed::bench {

/// From how many places at once memory is read. Intel's CPUs read eight faster than one, AMD's one as fast as eight:
/// both are measured, and the faster one counts.
enum class Streams { one, eight };

/// Sums both buffers once. The sum is returned so that the reads cannot be dropped.
float read_all(std::span<const float> a, std::span<const float> b, int threads, Streams streams);

}  // namespace heed::bench
