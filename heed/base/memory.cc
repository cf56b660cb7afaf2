#include "heed/base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace heed {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// "MemAvailable:   123 kB"
double kilobytes_of(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;)
    if (word == name) {
      double kilobytes = kUnknown;
      lines >> kilobytes;
      return kilobytes;
    }
  return kUnknown;
}

double left_of_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string memory_text(const std::bad_alloc& error) {
  const bool known = dynamic_cast<const NotEnoughMemory*>(&error) != nullptr;
  return known ? error.what() : "not enough memory";
}

double memory_left() {
  const double available = kilobytes_of("/proc/meminfo", "MemAvailable:") * 1024;
  const double swap = kilobytes_of("/proc/meminfo", "SwapFree:") * 1024;
  return std::max(0.0, std::min(available + swap, left_of_limit()));
}

void expect_memory(double bytes, std::string_view what, std::string_view hint) {
  const double left = memory_left();
  if (bytes <= left) return;
  throw NotEnoughMemory(fmt::format("not enough memory: {} needs about {:.1f} GB, and {:.1f} GB are free{}{}", what,
                                    bytes / 1e9, left / 1e9, hint.empty() ? "" : "; ", hint));
}

}  // namespace heed
