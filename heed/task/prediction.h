// What a model says to a line of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::task {

/// A token of the output and the source token that it looked at most, both from 0.
struct Link {
  int64_t source = 0, target = 0;
  bool operator==(const Link&) const = default;
};

struct Output {
  std::string text = {};
  double score = 0.0;                    // what outputs are ranked by: log_probability / length penalty + coverage
  double log_probability = 0.0;          // of the tokens, and of the end where it came
  bool finished = false;                 // the end came within the longest output
  std::vector<std::string> tokens = {};  // as the vocabulary spells them
  std::vector<float> token_log_probabilities = {};  // [tokens], and that of the end last, where it came
  std::vector<std::vector<float>> alignment = {};   // [tokens][source tokens]; empty where it was not asked for

  std::vector<Link> links() const;  // [tokens]; none without an alignment
};

/// Links as "0-0 2-1", source first.
std::string pharaoh(const Output& output);

/// What became of a line.
struct Prediction {
  std::string error;                       // why there is no output: bytes that are no UTF-8, too long; else empty
  std::vector<std::string> source_tokens;  // as the vocabulary spells them
  std::vector<std::string> unknown;        // tokens that it does not hold, as they stand in the line; each kind once
  std::vector<Output> nbest;               // [nbest], the best first; none for a line without tokens or with an error

  /// Of the best output; nothing where there is none.
  const std::string& text() const;
};

/// A source and a target whose probability is asked for.
struct TextPair {
  std::string source, target;
};

/// How likely a model finds a pair.
struct PairScore {
  std::string error;                           // why it cannot be scored; else empty
  double log_probability = 0.0;                // of the target and its end, given the source
  std::vector<std::string> tokens;             // of the target as the vocabulary spells them, the end last
  std::vector<float> token_log_probabilities;  // [tokens]
};

}  // namespace heed::task
