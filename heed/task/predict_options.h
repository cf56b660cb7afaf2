// How outputs are searched for, in the words of `heed predict` and of Python's predict().
#pragma once

#include <cstdint>

namespace heed::task {

struct PredictOptions {
  int64_t beam = 0;             // hypotheses that are followed at once; 0: as many as nbest; 1: greedy
  int64_t nbest = 1;            // outputs for each line
  double length_penalty = 0.0;  // log p is divided by ((5 + length) / 6)^this; 0.6 is usual.  Wu et al. 2016
  bool mean_score = false;      // or by the length: the mean of the tokens' log-probabilities
  double coverage = 0.0;        // weight of the penalty for source tokens that were not looked at; 0.2 is usual
  int64_t max_length = 0;       // tokens of an output at most; 0: validate.longest of the model's recipe

  bool sample = false;       // draw every token, instead of taking the likeliest
  double temperature = 1.0;  // of samples: below 1 more cautious, above 1 more varied
  int64_t top_k = 0;         // of samples: only the k likeliest tokens; 0: all
  double top_p = 1.0;        // of samples: only the likeliest, which have this much together.  Holtzman et al. 2020
  uint64_t seed = 0;         // of samples: a line draws from (seed, its number), whatever lines are beside it
  int64_t first_line = 1;    // the number of the first line; the others follow

  bool alignments = true;  // ask for Output::alignment
  int64_t layer = 0;       // of the decoder, whose attention alignments and coverage show; 0: the last
  int64_t head = 0;        // of that layer; 0: the mean of all

  bool copy_unknown = false;  // in Output::text, the source token that was looked at most stands for an unknown one
};

// From where to where the numbers go; 0 is allowed too where it has a meaning of its own.
inline constexpr int64_t kWidest = 1000;                    // beam, nbest: more is a mistake
inline constexpr int64_t kLongest = 1'000'000;              // max_length: tokens of an output, whoever asks
inline constexpr double kLargestPenalty = 100.0;            // length_penalty, coverage
inline constexpr double kColdest = 1e-3, kHottest = 100.0;  // temperature
inline constexpr int64_t kMostTopK = 1'000'000'000;         // top_k
inline constexpr int64_t kMostLayers = 1000, kMostHeadsOfALayer = 65536;  // layer, head
inline constexpr double kLeastShare = 1e-9;                               // top_p

}  // namespace heed::task
