// The output of a model for a line of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::task {

/// An output token and the source token with the most attention, both from 0.
struct Link {
  int64_t source = 0, target = 0;
  bool operator==(const Link&) const = default;
};

/// A word of an output and when it was said, in seconds from the beginning of a recording.
struct WordTime {
  std::string word;
  double start = 0, end = 0;
  bool operator==(const WordTime&) const = default;
};

struct Output {
  std::string text = {};
  double score = 0.0;                    // what outputs are ranked by: log_probability / length penalty + coverage
  double log_probability = 0.0;          // of the tokens, and of the end token if it came
  bool finished = false;                 // the end token came within the longest output
  std::vector<std::string> tokens = {};  // as the vocabulary spells them
  std::vector<int32_t> ids = {};         // [tokens] their numbers there; none of a label
  std::vector<float> token_log_probabilities = {};  // [tokens]; the end token last, if it came
  std::vector<std::vector<float>> alignment = {};   // [tokens][source tokens]; empty if not requested

  std::vector<std::string> missing = {};  // of PredictOptions::must: what did not come ...
  std::string missing_because = {};       // ... and why
  double reverse_log_probability = 0.0;   // of the source, given this output: with rerank_reverse

  std::vector<float> sentence_weights = {};  // hierarchical labels: [sentences], on request
  std::vector<WordTime> times = {};          // recordings: of each word of the text; empty without an alignment

  std::vector<Link> links() const;               // [tokens]; none without an alignment
  double token_probability(size_t token) const;  // e^token_log_probabilities[token]
};

/// Which phrases are missing, and why; empty if none is.
std::string missing_text(const Output& output);

/// Links as "0-0 2-1", source first.
std::string pharaoh(const Output& output);

/// The answer to a line.
struct Prediction {
  std::string error;                            // why there is no output: invalid UTF-8, too long; otherwise empty
  std::vector<std::string> source_tokens;       // as the vocabulary spells them
  std::vector<std::string> second_tokens = {};  // of the second of two texts that are judged together
  std::vector<std::string> unknown;             // tokens that are not in it, as written in the line, each once
  std::vector<int64_t> sentence_tokens = {};    // hierarchical labels: tokens of each sentence of the text
  std::vector<Output> nbest;              // [nbest], the best first; empty for a line without tokens or with an error
  std::vector<float> vector = {};         // of a text: [width]
  std::vector<int64_t> filled = {};       // masked tokens: the source tokens that those of the outputs stand for
  int64_t map_rows = 0, map_columns = 0;  // pictures: the cells that alignments are about, row by row
  double row_seconds = 0;  // recordings: how long the rows are that alignments are about; their times are source_tokens

  /// Of the best output; empty if there is none.
  const std::string& text() const;
};

/// A source, and a target whose probability is requested.
struct TextPair {
  std::string source, target;
  /// Instead of the target as text: the tokens of an output, Output::ids. A vocabulary may cut the text of an output
  /// into other tokens than the search wrote. Empty: the target is cut into tokens.
  std::vector<int32_t> target_ids = {};
};

/// A part of a running text that was read at once: of <s> and the text, what predicts the next token, [first, end).
/// Tokens before them may have been read with them, but were predicted from in another part.
struct ReadPart {
  int64_t first = 0, end = 0;
};

/// The probability that a model gives to a target.
struct PairScore {
  std::string error;                           // why it cannot be scored; otherwise empty
  double log_probability = 0.0;                // of the target and its end token, given the source
  std::vector<std::string> tokens;             // of the target, as the vocabulary spells them; the end token last
  std::vector<float> token_log_probabilities;  // [tokens]
  std::vector<std::string> unknown = {};       // what source and target have and the vocabularies lack, as written
  std::vector<ReadPart> parts = {};            // of a running text, in the order in which they were read
};

/// How the probability of a target is found.
struct ScoreOptions {
  /// Models of running text: tokens from one window to the next (docs/language_models.md); 0: half of a window.
  int64_t stride = 0;
};

/// How well a model of running text predicts a text.
struct TextScore {
  int64_t lines = 0, characters = 0;  // characters with the ends of lines; 0: not all of the text is predicted
  int64_t tokens = 0, correct = 0;    // correct: the likeliest was the right one
  int64_t unknown = 0;                // tokens that the vocabulary lacks
  double log_probability = 0.0;
  std::string warning = {};  // about lines that were left out
};

}  // namespace heed::task
