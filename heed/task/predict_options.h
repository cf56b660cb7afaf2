// The options of prediction, with the names of `heed predict` and of Python's predict().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/task/prediction.h"

namespace heed::search {
struct SearchTree;
}

namespace heed::task {

/// What the output for one line must look like, as text: beside what the options say for all lines.
struct LineRules {
  std::vector<std::string> must = {};
  std::vector<std::string> must_not = {};
  std::string prefix = {};  // instead of that for all lines, if there is one
};

/// docs/decoding.md explains them, with formulas and papers.
struct PredictOptions {
  int64_t beam = 0;             // beam size; 0: nbest; 1: greedy
  int64_t nbest = 1;            // outputs per line
  double length_penalty = 0.0;  // log p is divided by ((5 + length) / 6)^this; 0.6 is common.  Wu et al. 2016
  bool mean_score = false;      // or divide by the length: the mean of the tokens' log-probabilities
  double coverage = 0.0;        // weight of the penalty for source tokens without attention; 0.2 is common
  int64_t max_length = 0;       // longest output, in tokens; 0: validate.longest of the model's recipe

  int64_t iterations = 0;  // parallel decoders: passes over an output; 0: kIterations
  int64_t lengths = 0;     // parallel decoders: outputs of different lengths to try; 0: kLengths, or nbest if more
  int64_t groups = 1;      // beam search in groups that avoid each other's tokens.  Vijayakumar et al. 2018
  double diversity = 0.5;  // how strongly: what a token costs for each group that took it at the same step

  // Words or phrases, cut into tokens as targets are.
  std::vector<std::string> must = {};      // each comes, or Output::missing names it.  Post and Vilar 2018
  std::vector<std::string> must_not = {};  // none comes
  std::string prefix = {};                 // what every output begins with; its probability counts
  std::vector<LineRules> line_rules = {};  // [lines] more of these for each line; or none
  int64_t no_repeat_ngram = 0;             // no n tokens come twice in an output; 0: they may

  // Candidates are the outputs of beam search or samples; the best `nbest` of them are kept. A score is then what they
  // are ranked by here.
  std::string mbr = {};    // a metric: rank by its mean over all candidates as references.  Eikema and Aziz 2020
  int64_t candidates = 0;  // outputs to choose from; 0: the beam size, else 10, of samples 50
  /// log p(source | output) by a model of the other direction, for pairs of an output and its source: added to the
  /// score.
  std::function<std::vector<PairScore>(std::span<const TextPair>)> rerank_reverse = {};
  double rerank_weight = 1.0;  // times this

  bool sample = false;       // sample every token instead of taking the likeliest
  double temperature = 1.0;  // sampling: below 1 more cautious, above 1 more varied
  int64_t top_k = 0;         // sampling: only the k likeliest tokens; 0: all
  double top_p = 1.0;        // sampling: the likeliest tokens up to this total probability.  Holtzman et al. 2020
  bool distinct = false;     // sampling: nbest outputs that all differ, without replacement.  Kool et al. 2019
  uint64_t seed = 0;         // sampling: a line's samples depend only on the seed and its number
  int64_t first_line = 1;    // the number of the first line; the others follow

  bool alignments = true;  // fill Output::alignment
  int64_t layer = 0;       // decoder layer, from 1, whose attention alignments and coverage use; 0: the last
  int64_t head = 0;        // head of that layer, from 1; 0: the mean of all

  /// Outputs while they are written, by any model that writes: called with the number of a line and all of its text so
  /// far, whenever that changes, from any thread that searches. Labels are not written: it is never called for them.
  ///
  /// Greedy search and one sample only add tokens. Otherwise the text may change and become shorter: with a beam, it is
  /// that of the hypothesis that leads at a step (also with nbest; words of `must` are searched with a beam too); with
  /// a parallel decoder, the best draft after a pass. A line that is searched again, for another spelling of must_not
  /// or alone for lack of memory, begins anew. copy_unknown copies at the end: until then ⁇ stands there.
  std::function<void(int64_t line, const std::string& text)> on_text = {};

  bool copy_unknown = false;  // in Output::text, replace an unknown token by the source token with the most attention

  /// One line, by beam or greedy search: filled with what the search considered (search/search_tree.h).
  search::SearchTree* tree = nullptr;
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
inline constexpr double kLargestDiversity = 1000.0;                       // diversity
inline constexpr int64_t kLongestNgram = 1000;                            // no_repeat_ngram
inline constexpr double kLargestReverse = 1000.0;                         // rerank_weight

// The defaults of parallel decoders: every further length costs as much as the first (docs/non_autoregressive.md).
inline constexpr int64_t kIterations = 4, kLengths = 1;

}  // namespace heed::task
