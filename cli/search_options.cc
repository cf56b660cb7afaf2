#include "cli/search_options.h"

#include <algorithm>
#include <string>

#include "cli/options.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {
using namespace task;  // from where to where the numbers go
}  // namespace

void add_search(Verb verb, SearchChoice& c) {
  verb.option("--beam", c.options.beam, "Hypotheses that are followed at once; else 1: greedy")
      .value("N")
      .from_to(int64_t{1}, kWidest);
  verb.option("--length-penalty", c.options.length_penalty,
              "log p is divided by ((5 + length) / 6)^A; 0, the default: not at all; 0.6 is usual")
      .value("A")
      .from_to(0.0, kLargestPenalty);
  verb.flag("--mean-score", c.options.mean_score, "Rank by log p divided by the length, instead of --length-penalty");
  verb.option("--coverage", c.options.coverage,
              "Weight of the penalty for source tokens that were not looked at; else 0. 0.2 is usual")
      .value("B")
      .from_to(0.0, kLargestPenalty);
  verb.option("--max-length", c.options.max_length,
              "Tokens of an output at most; else validate.longest of the model's recipe")
      .value("N")
      .from_to(int64_t{1}, kLongest);
  verb.option("--batch", c.batch, "Lines that are worked on together at most; else 64 for each thread")
      .value("SENTENCES")
      .from_to(int64_t{1}, kLongest);
}

size_t lines_at_once(const SearchChoice& c) {
  constexpr int64_t kOfAThread = 64;  // several batches: the threads finish at about the same time
  return static_cast<size_t>(c.batch > 0 ? c.batch : kOfAThread * kernels::most_threads());
}

void add_nbest_and_sampling(Verb verb, SearchChoice& c) {
  verb.option("--nbest", c.options.nbest,
              "Outputs for each line, the best first; else 1. Without --beam, of a beam that wide")
      .value("N")
      .from_to(int64_t{1}, kWidest);
  const Option sample = verb.flag("--sample", c.options.sample, "Draw every token, instead of taking the likeliest");
  verb.option("--temperature", c.options.temperature,
              "With --sample: below 1 more cautious, above 1 more varied; else 1")
      .value("T")
      .from_to(kColdest, kHottest)
      .needs(sample);
  verb.option("--top-k", c.options.top_k, "With --sample: only the K likeliest tokens; else all")
      .value("K")
      .from_to(int64_t{1}, kMostTopK)
      .needs(sample);
  verb.option("--top-p", c.options.top_p, "With --sample: only the likeliest, which have P together; else 1")
      .value("P")
      .from_to(kLeastShare, 1.0)
      .needs(sample);
  add_seed(verb, c.options.seed, "With --sample: another seed, other outputs");
}

void check(const predict::Options& options, const predict::Predictor& predictor) {
  try {
    predictor.check(options);
  } catch (const Error& error) {  // which begins with the name of an option
    std::string message = error.what();
    std::replace(message.begin(), message.begin() + static_cast<ptrdiff_t>(message.find(' ')), '_', '-');
    throw Error("--" + message);
  }
}

}  // namespace heed::cli
