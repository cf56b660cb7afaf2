#include "heed/attend/cache.h"

#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"

namespace heed::attend {

PreparedMemory Mechanism::begin(Tape&, int64_t, int64_t) const {
  throw Error("begin: this mechanism needs the whole memory at once, so its memory cannot grow");
}
PreparedMemory Mechanism::extend(const PreparedMemory&, const Memory&) const {
  throw Error("extend: this mechanism needs the whole memory at once, so its memory cannot grow");
}

PreparedMemory begin_cache(int64_t batch, int64_t capacity) {
  expect(batch >= 0 && capacity > 0, "begin: a memory of {} sequences with room for {} rows cannot be made", batch,
         capacity);
  PreparedMemory p;
  p.batch = batch;
  p.capacity = capacity;
  return p;
}

PreparedMemory extend_cache(const PreparedMemory& so_far, Tensor keys, Tensor values) {
  expect(so_far.capacity > 0, "extend: this memory was prepared as a whole; only a memory from begin() can grow");
  expect(so_far.filled < so_far.capacity, "extend: the memory has room for {} rows and is full", so_far.capacity);
  expect(values.rows() == so_far.batch, "extend: {} rows for {} sequences; expected one row each", values.rows(),
         so_far.batch);
  PreparedMemory p = so_far;
  auto write = [&](Tensor& cache, Tensor rows) {
    if (!rows) return;
    if (!cache) cache = make_cache(rows.tape(), p.batch * p.capacity, rows.cols());
    write_rows(cache, rows, p.capacity, p.filled);
  };
  write(p.keys, keys);
  write(p.values, values);
  ++p.filled;
  return p;
}

}  // namespace heed::attend
