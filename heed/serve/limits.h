// What one request may ask for.
#pragma once

#include <chrono>
#include <cstdint>

namespace heed::serve {

struct RequestLimits {
  int64_t text = 5000;                     // characters of a text
  int64_t lines = 64;                      // texts of a request
  int64_t beam = 16;                       // hypotheses of a text: beam, nbest, n, lengths, samples
  int64_t length = 0;                      // tokens of an output; 0: as long as the model allows
  int64_t tokens = 4096;                   // attention: of an input or output
  int64_t weights = 16 * 1024 * 1024;      // attention: of all heads and layers that are computed
  int64_t answer = 32 * 1024 * 1024;       // bytes of an answer
  int64_t pixels = 16 * 1024 * 1024;       // of a picture
  int64_t of_a_client = 0;                 // requests of one address at once; 0: any number
  std::chrono::milliseconds time{30'000};  // for an answer
};

}  // namespace heed::serve
