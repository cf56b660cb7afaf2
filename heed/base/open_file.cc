#include "heed/base/open_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "heed/base/error.h"
#include "heed/kernels/interrupt.h"

namespace heed::text {

int open_to_read(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

std::string_view other_than_a_file(int descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || S_ISREG(about.st_mode)) return "";
  if (S_ISDIR(about.st_mode)) return "a folder";
  if (S_ISFIFO(about.st_mode)) return "a pipe";
  return S_ISSOCK(about.st_mode) ? "a socket" : "a device";
}

void wait_to_read(int descriptor) {
  constexpr int kMilliseconds = 50;  // until somebody who wants to stop is heard
  for (pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0}; ::poll(&one, 1, kMilliseconds) <= 0;)
    if (kernels::interrupted()) throw Interrupted();
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

}  // namespace heed::text
