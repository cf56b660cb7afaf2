#include "cli/search_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "heed/text/tokens.h"

namespace heed::cli {

namespace {
constexpr int64_t kWidest = 1000;        // beams and numbers of samples: more is a mistake
constexpr int64_t kLongest = 1'000'000;  // tokens of an output
constexpr double kLargest = 100.0;
constexpr double kSmallest = 1e-3;
}  // namespace

void add_search(CLI::App& verb, SearchChoice& c) {
  verb.add_option("--beam", c.beam, "Hypotheses that are followed at once; else 1: greedy")
      ->type_name("N")
      ->check(in_range(int64_t{1}, kWidest));
  verb.add_option("--length-penalty", c.options.alpha,
                  "log p is divided by ((5 + length) / 6)^A; 0, the default: not at all; 0.6 is usual")
      ->type_name("A")
      ->check(in_range(0.0, kLargest));
  verb.add_option("--coverage", c.options.beta,
                  "Weight of the penalty for source tokens that were not looked at; else 0. 0.2 is usual")
      ->type_name("B")
      ->check(in_range(0.0, kLargest));
  verb.add_option("--max-length", c.longest, "Tokens of an output at most; else validate.longest of the model's recipe")
      ->type_name("N")
      ->check(in_range(int64_t{1}, kLongest));
  verb.add_option("--batch", c.batch, "Lines that are worked on together at most; else 64")
      ->type_name("SENTENCES")
      ->check(in_range(int64_t{1}, kLongest));
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
      ->check(in_range(kSmallest, kLargest))
      ->needs(sample);
  verb.add_option("--top-k", c.options.top_k, "With --sample: only the K likeliest tokens; else all")
      ->type_name("K")
      ->check(in_range(int64_t{1}, int64_t{1'000'000'000}))
      ->needs(sample);
  verb.add_option("--top-p", c.options.top_p, "With --sample: only the likeliest, which have P together; else 1")
      ->type_name("P")
      ->check(in_range(1e-9, 1.0))
      ->needs(sample);
  add_seed(verb, c.options.seed, "With --sample: another seed, other outputs");
}

search::Options options_of(const SearchChoice& c, const train::TrainedModel& trained) {
  search::Options o = c.options;
  o.start = kStart;
  o.end = kEnd;
  if (o.sample && c.beam > 1)
    throw Failure(kUsage, "--sample and --beam do not go together: --nbest says how many outputs are drawn");
  o.beam = c.beam > 0 ? c.beam : (o.sample ? 1 : o.nbest);
  if (!o.sample && o.nbest > o.beam)
    throw Failure(kUsage, fmt::format("--nbest {} needs a beam of at least {}, not {}", o.nbest, o.nbest, o.beam));
  const int64_t places = train::places(trained.recipe);
  if (c.longest > places)
    throw Failure(kUsage, fmt::format("--max-length {}: the model has places for {}", c.longest, places));
  o.longest = c.longest > 0 ? c.longest : train::longest_output(trained.recipe);
  return o;
}

}  // namespace heed::cli
