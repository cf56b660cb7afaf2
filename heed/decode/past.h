// The keys and values of self-attention to what a hypothesis has said so far.
//
// Each hypothesis has its own, [rows, capacity, width], because the loop reads a memory by one stride. They are copied
// where hypotheses change places, and only as far as they are filled: see the report of bench in docs/kernels.md.
#pragma once

#include "heed/attend/mechanism.h"
#include "heed/decode/kept.h"

namespace heed::decode {

class Past {
 public:
  /// Room for up to `longest` steps, which is taken as it is needed.
  Past(int64_t rows, int64_t longest);

  /// One more row for each hypothesis: x [rows, width]. Gives all rows so far, on the tape of x.
  attend::Prepared extend(const attend::Mechanism& mechanism, const Packed& x);
  void select(std::span<const int64_t> rows);

 private:
  struct Part {  // keys or values
    std::vector<float> data;
    int64_t width = 0;
  };
  Tensor on(Tape& tape, Part& part) const;
  void adopt(Part& part, Tensor made) const;
  void grow();

  int64_t rows_, longest_;
  int64_t capacity_;
  int64_t filled_ = 0;
  Part keys_, values_;
};

}  // namespace heed::decode
