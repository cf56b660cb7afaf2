// How many threads a part of a test works with.
#pragma once

#include <omp.h>

namespace heed::test {

/// OpenMP's number of threads, as it was again at the end of its life, also where a test fails in between.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace heed::test
