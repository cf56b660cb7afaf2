#include "heed/serve/process_metrics.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>

namespace heed::serve {

namespace {

/// Of this process; a little late, when the library was loaded.
const double start_seconds = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// -1: unknown. By readdir, because std::filesystem ends the process where memory is missing.
int64_t open_files() {
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return -1;
  int64_t files = -3;  // ".", "..", and the folder itself, which is open while it is read
  while (readdir(folder)) ++files;
  closedir(folder);
  return files;
}

}  // namespace

std::string process_metrics() {
  std::string all;
  const auto one = [&](const char* name, const char* type, const char* meaning, auto value) {
    all += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, meaning, type, value);
  };
  if (rusage used{}; getrusage(RUSAGE_SELF, &used) == 0)
    one("process_cpu_seconds_total", "counter", "Processor time, of the user and the system.",
        seconds(used.ru_utime) + seconds(used.ru_stime));
  int64_t pages = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> pages >> resident) {
    const int64_t size = sysconf(_SC_PAGESIZE);
    one("process_virtual_memory_bytes", "gauge", "Virtual memory.", pages * size);
    one("process_resident_memory_bytes", "gauge", "Resident memory.", resident * size);
  }
  if (const int64_t files = open_files(); files >= 0)
    one("process_open_fds", "gauge", "Open files and connections.", files);
  if (rlimit most{}; getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
    one("process_max_fds", "gauge", "How many may be open.", most.rlim_cur);
  one("process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.",
      fmt::format("{:.3f}", start_seconds));
  return all;
}

}  // namespace heed::serve
