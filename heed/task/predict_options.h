// The options of prediction, with the names of `heed predict` and of Python's predict().
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace heed::task {

struct PredictOptions {
  int64_t beam = 0;             // beam size; 0: nbest; 1: greedy
  int64_t nbest = 1;            // outputs per line
  double length_penalty = 0.0;  // log p is divided by ((5 + length) / 6)^this; 0.6 is common.  Wu et al. 2016
  bool mean_score = false;      // or divide by the length: the mean of the tokens' log-probabilities
  double coverage = 0.0;        // weight of the penalty for source tokens without attention; 0.2 is common
  int64_t max_length = 0;       // longest output, in tokens; 0: validate.longest of the model's recipe

  int64_t iterations = 0;  // parallel decoders: passes over an output; 0: kIterations
  int64_t lengths = 0;     // parallel decoders: outputs of different lengths to try; 0: kLengths, or nbest if more

  bool sample = false;       // sample every token instead of taking the likeliest
  double temperature = 1.0;  // sampling: below 1 more cautious, above 1 more varied
  int64_t top_k = 0;         // sampling: only the k likeliest tokens; 0: all
  double top_p = 1.0;        // sampling: the likeliest tokens up to this total probability.  Holtzman et al. 2020
  uint64_t seed = 0;         // sampling: a line's samples depend only on the seed and its number
  int64_t first_line = 1;    // the number of the first line; the others follow

  bool alignments = true;  // fill Output::alignment
  int64_t layer = 0;       // decoder layer, from 1, whose attention alignments and coverage use; 0: the last
  int64_t head = 0;        // head of that layer, from 1; 0: the mean of all

  /// Running text, greedy or one sample: called with the number of a line and all that was written so far, whenever
  /// there is more. From any thread that searches.
  std::function<void(int64_t line, const std::string& text)> on_text = {};

  bool copy_unknown = false;  // in Output::text, replace an unknown token by the source token with the most attention
};

// The ranges of the numbers; 0 is allowed too if it has a special meaning.
inline constexpr int64_t kWidest = 1000;                                  // beam, nbest: more is a mistake
inline constexpr int64_t kMostIterations = 1000;                          // iterations
inline constexpr int64_t kLongest = 1'000'000;                            // max_length
inline constexpr double kLargestPenalty = 100.0;                          // length_penalty, coverage
inline constexpr double kColdest = 1e-3, kHottest = 100.0;                // temperature
inline constexpr int64_t kMostTopK = 1'000'000'000;                       // top_k
inline constexpr int64_t kMostLayers = 1000, kMostHeadsOfALayer = 65536;  // layer, head
inline constexpr double kLeastShare = 1e-9;                               // top_p

// The defaults of parallel decoders: more passes and lengths gain little (docs/non_autoregressive.md).
inline constexpr int64_t kIterations = 4, kLengths = 3;

}  // namespace heed::task
