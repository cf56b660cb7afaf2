#include "cli/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/options.h"
#include "heed/kernels/threads.h"
#include "heed/metric/all.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {
using namespace task;  // the ranges of the numbers
}  // namespace

void add_search(Verb verb, SearchChoice& c) {
  const std::string usual = c.usual_beam == 1 ? "1: greedy search" : fmt::format("{}; 1: greedy search", c.usual_beam);
  verb.option("--beam", c.options.beam, fmt::format("Beam size (default {})", usual))
      .value("N")
      .from_to(int64_t{1}, kWidest);
  verb.option("--groups", c.options.groups,
              "Diverse beam search: cut the beam into N groups that avoid each other's tokens (default 1)")
      .value("N")
      .from_to(int64_t{1}, kWidest);
  verb.option("--diversity", c.options.diversity,
              "With --groups: what a token costs for each group that took it at the same step (default 0.5)")
      .value("D")
      .from_to(0.0, kLargestDiversity);
  verb.option("--length-penalty", c.options.length_penalty,
              "Divide log p by ((5 + length) / 6)^A; 0.6 is common (default 0: no penalty)")
      .value("A")
      .from_to(0.0, kLargestPenalty);
  verb.flag("--mean-score", c.options.mean_score,
            "Rank by log p divided by the length, instead of by --length-penalty");
  verb.option("--coverage", c.options.coverage,
              "Weight of the penalty for source tokens without attention; 0.2 is common (default 0)")
      .value("B")
      .from_to(0.0, kLargestPenalty);
  verb.option("--iterations", c.options.iterations,
              fmt::format("Parallel decoders: passes over an output (default {})", kIterations))
      .value("N")
      .from_to(int64_t{1}, kMostIterations);
  verb.option("--lengths", c.options.lengths,
              fmt::format("Parallel decoders: outputs of different lengths to try (default {})", kLengths))
      .value("N")
      .from_to(int64_t{1}, kWidest);
  verb.option("--max-length", c.options.max_length,
              "Longest output, in tokens (default: validate.longest of the model's recipe)")
      .value("N")
      .from_to(int64_t{1}, kLongest);
  verb.option("--batch", c.batch, "Lines to process at a time (default: 64 per thread)")
      .value("SENTENCES")
      .from_to(int64_t{1}, kLongest);
}

size_t lines_at_once(const SearchChoice& c) {
  constexpr int64_t kOfAThread = 64;  // several batches, so that the threads finish at about the same time
  return static_cast<size_t>(c.batch > 0 ? c.batch : kOfAThread * kernels::most_threads());
}

void add_nbest_and_sampling(Verb verb, SearchChoice& c) {
  verb.option("--nbest", c.options.nbest,
              "Outputs per line, the best first (default 1); without --beam, N is also the beam size")
      .value("N")
      .from_to(int64_t{1}, kWidest);
  const Option sample = verb.flag("--sample", c.options.sample, "Sample every token instead of taking the likeliest");
  verb.option("--temperature", c.options.temperature,
              "With --sample: below 1 more cautious, above 1 more varied (default 1)")
      .value("T")
      .from_to(kColdest, kHottest)
      .needs(sample);
  verb.option("--top-k", c.options.top_k, "With --sample: only the K likeliest tokens (default: all)")
      .value("K")
      .from_to(int64_t{1}, kMostTopK)
      .needs(sample);
  verb.option("--top-p", c.options.top_p,
              "With --sample: only the likeliest tokens, up to a total probability of P (default 1)")
      .value("P")
      .from_to(kLeastShare, 1.0)
      .needs(sample);
  verb.flag("--distinct", c.options.distinct, "With --sample: N outputs of --nbest that all differ").needs(sample);
  add_seed(verb, c.options.seed, "With --sample: random seed");
}

void add_rules(Verb verb, SearchChoice& c) {
  verb.option("--must", c.options.must, "A word or phrase that every output contains; may be repeated")
      .value("TEXT")
      .repeated();
  verb.option("--must-not", c.options.must_not, "A word or phrase that no output contains; may be repeated")
      .value("TEXT")
      .repeated();
  verb.option("--prefix", c.options.prefix, "What every output begins with").value("TEXT");
  verb.option("--no-repeat-ngram", c.options.no_repeat_ngram, "No N tokens come twice in an output (default: they may)")
      .value("N")
      .from_to(int64_t{1}, kLongestNgram);
}

void add_reranking(Verb verb, SearchChoice& c) {
  std::vector<std::string> metrics;
  for (const metric::MetricEntry& entry : metric::all_metrics())
    if (!entry.needs_labels) metrics.push_back(entry.name);
  verb.option("--mbr", c.options.mbr,
              "Choose the candidate that agrees most with all others by this metric: chrf, bleu (minimum Bayes risk)")
      .value("METRIC")
      .one_of("metric", metrics);
  const Option reverse = verb.option("--rerank-reverse", c.reverse,
                                     "Add to each score log p(source | output) by this model of the other direction")
                             .value("MODEL");
  verb.option("--rerank-weight", c.options.rerank_weight, "With --rerank-reverse: times this (default 1)")
      .value("W")
      .from_to(0.0, kLargestReverse)
      .needs(reverse);
  verb.option("--candidates", c.options.candidates,
              "With --mbr or --rerank-reverse: outputs to choose from (default: the beam size or 10, 50 of samples)")
      .value("N")
      .from_to(int64_t{1}, kWidest);
}

void load_reverse(SearchChoice& c) {
  if (c.reverse.empty()) return;
  const auto model = std::make_shared<const predict::Predictor>(load_model({.folder = c.reverse}));
  c.options.rerank_reverse = [model](std::span<const predict::TextPair> pairs) { return model->score_all(pairs); };
}

void check(const predict::Options& options, const predict::Predictor& predictor) {
  try {
    predictor.check(options);
  } catch (const Error& error) {  // its message begins with the name of an option
    std::string message = error.what();
    std::replace(message.begin(), message.begin() + static_cast<ptrdiff_t>(message.find(' ')), '_', '-');
    throw Error("--" + message);
  }
}

}  // namespace heed::cli
