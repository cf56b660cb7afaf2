// sources -> tokens of targets: greedy, beam search or sampling for any model that generates step by step,
// refinement for any model that writes all positions at once.
// docs/decoding.md has all ways to decode.
//
//   Tape tape({.recording = false, .training = false});
//   data::Sources sources;
//   sources.add(tokens);
//   for (const search::Result& r : search::search(generator, tape, {sources}, {.beam = 5, .alpha = 0.6}))
//     use(r.best().tokens);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heed/data/source.h"
#include "heed/model/generator.h"
#include "heed/model/parallel_generator.h"
#include "heed/model/search/rules.h"

namespace heed::search {

/// The divisor of a log-probability, where |Y| is the number of tokens of a hypothesis, including END.
enum class LengthNormalisation {
  wu,    // ((5 + |Y|) / 6)^alpha.  Wu et al. 2016, equation 14; alpha = 0: nothing
  mean,  // |Y|: the mean of the tokens' log-probabilities
};

/// Which weights of the attention to the source.
struct Heads {
  static constexpr int64_t kMean = -1, kLast = -2;
  int64_t layer = kLast;  // a number, kLast, or kMean of all
  int64_t head = kMean;   // a number, or kMean of all
};

struct SearchTree;  // search_tree.h

struct Options {
  int32_t start = 1, end = 2;
  /// Tokens that come in no output, however likely a model finds them: text::Tokeniser::never_written(). Whatever is
  /// chosen or drawn is so from the others; their log-probabilities stay those of the model, which do not add up to 1
  /// without these.
  std::vector<int32_t> never = {};
  int64_t longest = 200;  // steps: tokens of a hypothesis, END included
  int64_t beam = 1;       // 1: greedy
  int64_t nbest = 1;      // hypotheses of a result: at most `beam`, or any number of samples

  // --------------------------------------------------------------------------------------- beam search that is diverse
  /// The beam is cut into this many groups, which search one after the other at each step; 1: none. A group pays for
  /// each token by how often the groups before it took that token at this step:
  ///   order by log p - diversity * count.                     Vijayakumar et al. 2018, with Hamming diversity
  int64_t groups = 1;      // must divide `beam`
  double diversity = 0.5;  // the hypotheses are ranked without it in the end

  // ------------------------------------------------------------------------- score: what hypotheses are ranked by
  LengthNormalisation length = LengthNormalisation::wu;
  double alpha = 0.0;
  /// Wu et al. 2016, equation 14: score += beta sum_i log min(sum_t a_ti, 1), i over the source, a of `heads`; a sum
  /// below 1e-6 counts as 1e-6, since weights can be 0.
  double beta = 0.0;

  // ---------------------------------------------------------------------------------------------------- sampling
  bool sample = false;       // draw each token instead of searching
  double temperature = 1.0;  // p^(1 / temperature); first, then top_k, then top_p
  int64_t top_k = 0;         // only the k most likely; 0: all
  double top_p = 1.0;        // only the most likely that together reach this probability.  Holtzman et al. 2020
  bool distinct = false;     // no sequence twice: drawn without replacement.  Kool et al. 2019
  uint64_t seed = 0;         // a sentence draws from (seed, its index in the input): its batch does not matter

  int64_t no_repeat_ngram = 0;  // no n tokens come twice in an output; 0: they may

  // -------------------------------------------------------------------------------- models that write all at once
  int64_t iterations = 4;      // passes: after the first, the least certain tokens are written again
  int64_t lengths = 1;         // outputs of different lengths that are tried; the best stays
  int64_t given_length = 0;    // tokens of every output; 0: the model predicts them
  double length_factor = 0.0;  // above 0: an output has this times the tokens that the model finds likeliest

  /// What is written, while it is written: called with the number of a sentence and all tokens of its leading
  /// hypothesis whenever they change, from any thread that searches. Greedy search and a sample only add tokens. In a
  /// beam another hypothesis may take the lead, open or finished; a refinement tells its best draft after each pass:
  /// then tokens may change and become fewer. The last call has the tokens of the best hypothesis; there is none if
  /// that is empty from the beginning. Not for several samples, of which none leads.
  std::function<void(int64_t, std::span<const int32_t>)> on_token = {};

  /// For one sentence, greedy or with a beam: filled with what the search considered. Of the candidates that it
  /// dropped, at most `beam` of each step are there, the best.
  SearchTree* tree = nullptr;

  bool alignment = false;  // ask for Hypothesis::alignment, of `heads`
  Heads heads = {};
};

/// What is searched for: outputs of these sources, each of which has a number in the whole input.
struct Input {
  const data::Sources& sources;           // [B]
  int64_t first = 0;                      // number of the first sentence; the others follow ...
  std::span<const int64_t> numbers = {};  // ... or [B]
  /// [B], each may be null; or none. A sentence with phrases that must come is searched with a beam, which has at least
  /// one place more than they have tokens.
  std::span<const Rules* const> rules = {};

  int64_t size() const { return sources.size(); }
  const Rules* rules_of(int64_t b) const { return rules.empty() ? nullptr : rules[static_cast<size_t>(b)]; }
  int64_t number(int64_t b) const { return numbers.empty() ? first + b : numbers[static_cast<size_t>(b)]; }
};

struct Hypothesis {
  std::vector<int32_t> tokens = {};                 // without START and END
  double log_probability = 0.0;                     // of the tokens, and of END if it was reached
  double score = 0.0;                               // what it was ranked by
  std::vector<float> token_log_probabilities = {};  // that of END last, if it was reached
  bool finished = false;                            // END came within `longest` steps
  /// [token_log_probabilities][rows of the memory: source tokens, cells], on request; none of a length.
  std::vector<std::vector<float>> alignment = {};
  std::vector<int64_t> missing = {};  // phrases of Rules::must that did not come: only if not finished
  bool stuck = false;                 // the rules allowed no token more, so it ends here
};

/// Hypotheses of a sentence, the best first: the finished ones by their score, then the others by theirs, those that
/// miss fewer phrases first.
struct Result {
  std::vector<Hypothesis> hypotheses;
  const Hypothesis& best() const { return hypotheses.front(); }
};

/// Hypotheses of sentence b that are followed at the same time.
int64_t width_of(const Input& input, int64_t b, const Options& options);

/// Searches for a batch. The tape must not be recording, and is reset; a search needs the tape memory of one step.
///
/// Every sentence gets at least one hypothesis. An empty source is not passed to the model: its only hypothesis is
/// empty and finished, with a log-probability of 0. Throws if a model's numbers are NaN or infinite.
std::vector<Result> search(const model::Generator& generator, Tape& tape, const Input& input, const Options& options);

/// The same with a model that writes all positions at once. Hypotheses are ranked by the mean of their
/// log-probabilities, which are those of the passes that wrote the tokens; that of the length (or of END) comes last.
std::vector<Result> search(const model::ParallelGenerator& generator, Tape& tape, const Input& input,
                           const Options& options);

}  // namespace heed::search
