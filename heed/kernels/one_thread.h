// Work that another thread's work stands beside.
#pragma once

namespace heed::kernels {

/// While it lives, everything that the calling thread calls works alone: heed's own loops, and libraries that ask
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
