// Work that runs next to other threads' work.
#pragma once

namespace heed::kernels {

/// While it exists, everything that the calling thread calls uses one thread: heed's own loops, and libraries that ask
/// OpenMP.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace heed::kernels
