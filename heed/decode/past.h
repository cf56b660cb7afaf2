// The keys and values of self-attention to what a hypothesis has said so far.
//
// Each hypothesis has its own, [rows, capacity, width], because the loop reads a memory by one stride: where hypotheses
// change places, rows are copied, as far as they are filled. A Transformer of 4 layers and width 128, 32 sentences with
// 5 hypotheses, 50 steps, one thread: a step takes 15 ms; copying takes 0.02 ms where nobody moves, 1.3 ms where 2 of 5
// die and only those are written over (what beam.cc arranges), and 4.2 ms where all stand in the order of their rank. A
// table of places for the loop to read through would save the 1.3 ms and cost every mechanism its plain strides.
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
