#include "cli/search_options.h"

#include <algorithm>
#include <string>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {
using namespace predict;  // from where to where the numbers go
}  // namespace

void add_search(CLI::App& verb, SearchChoice& c) {
  verb.add_option("--beam", c.options.beam, "Hypotheses that are followed at once; else 1: greedy")
      ->type_name("N")
      ->check(in_range(int64_t{1}, kWidest));
  verb.add_option("--length-penalty", c.options.length_penalty,
                  "log p is divided by ((5 + length) / 6)^A; 0, the default: not at all; 0.6 is usual")
      ->type_name("A")
      ->check(in_range(0.0, kLargestPenalty));
  verb.add_option("--coverage", c.options.coverage,
                  "Weight of the penalty for source tokens that were not looked at; else 0. 0.2 is usual")
      ->type_name("B")
      ->check(in_range(0.0, kLargestPenalty));
  verb.add_option("--max-length", c.options.max_length,
                  "Tokens of an output at most; else validate.longest of the model's recipe")
      ->type_name("N")
      ->check(in_range(int64_t{1}, kLongest));
  verb.add_option("--batch", c.batch, "Lines that are worked on together at most; else 64 for each thread")
      ->type_name("SENTENCES")
      ->check(in_range(int64_t{1}, kLongest));
}

size_t lines_at_once(const SearchChoice& c) {
  constexpr int64_t kOfAThread = 64;  // several batches: the threads finish at about the same time
  return static_cast<size_t>(c.batch > 0 ? c.batch : kOfAThread * kernels::most_threads());
}

void add_nbest_and_sampling(CLI::App& verb, SearchChoice& c) {
  verb.add_option("--nbest", c.options.nbest,
                  "Outputs for each line, the best first; else 1. Without --beam, of a beam that wide")
      ->type_name("N")
      ->check(in_range(int64_t{1}, kWidest));
  CLI::Option* sample =
      verb.add_flag("--sample", c.options.sample, "Draw every token, instead of taking the likeliest");
  verb.add_option("--temperature", c.options.temperature, "With --sample: below 1 bolder, above 1 more various; else 1")
      ->type_name("T")
      ->check(in_range(kColdest, kHottest))
      ->needs(sample);
  verb.add_option("--top-k", c.options.top_k, "With --sample: only the K likeliest tokens; else all")
      ->type_name("K")
      ->check(in_range(int64_t{1}, kMostTokens))
      ->needs(sample);
  verb.add_option("--top-p", c.options.top_p, "With --sample: only the likeliest, which have P together; else 1")
      ->type_name("P")
      ->check(in_range(kLeastShare, 1.0))
      ->needs(sample);
  add_seed(verb, c.options.seed, "With --sample: another seed, other outputs");
}

void check(const predict::Options& options, const predict::Predictor& predictor) {
  try {
    predict::search_options(options, predictor.model().recipe);
  } catch (const Error& error) {  // which begins with the name of an option
    std::string message = error.what();
    std::replace(message.begin(), message.begin() + static_cast<ptrdiff_t>(message.find(' ')), '_', '-');
    throw Failure(kUsage, "--" + message);
  }
}

}  // namespace heed::cli
