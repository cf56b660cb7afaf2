#include "heed/search/search.h"

#include <cmath>

#include "heed/search/strategies.h"
#include "heed/tensor/error.h"

namespace heed::search {

namespace {

void check_both(const Tape& tape, const Sources& sources, const Options& o) {
  expect(!tape.recording() && !tape.training(), "search: the tape must neither record nor train");
  expect(!sources.offsets.empty() && sources.offsets.front() == 0 && sources.offsets.back() == std::ssize(sources.ids),
         "search: the offsets of the sources must go from 0 to their {} ids", sources.ids.size());
  expect(sources.numbers.empty() || std::ssize(sources.numbers) == sources.size(), "search: {} numbers for {} sources",
         sources.numbers.size(), sources.size());
  expect(o.longest >= 1, "search: longest must be at least 1, not {}", o.longest);
  expect(o.heads.layer >= Heads::kLast && o.heads.head >= Heads::kMean,
         "search: there are no weights of layer {} and head {}", o.heads.layer, o.heads.head);
}

void check_steps(const Options& o) {
  expect(o.beam >= 1, "search: beam must be at least 1, not {}", o.beam);
  expect(o.nbest >= 1 && (o.sample || o.nbest <= o.beam), "search: nbest must be from 1 to beam = {}, not {}", o.beam,
         o.nbest);
  expect(o.alpha >= 0.0 && std::isfinite(o.alpha), "search: alpha must not be below 0, but is {}", o.alpha);
  expect(o.beta >= 0.0 && std::isfinite(o.beta), "search: beta must not be below 0, but is {}", o.beta);
  if (!o.sample) return;
  expect(o.beam == 1, "search: sampling has no beam; set nbest to the number of samples");
  expect(o.temperature > 0.0 && std::isfinite(o.temperature), "search: temperature must be above 0, not {}",
         o.temperature);
  expect(o.top_k >= 0, "search: top_k must not be below 0, but is {}", o.top_k);
  expect(o.top_p > 0.0 && o.top_p <= 1.0, "search: top_p must be above 0 and at most 1, not {}", o.top_p);
}

void check_passes(const Options& o, int64_t slots) {
  expect(o.iterations >= 1, "search: iterations must be at least 1, not {}", o.iterations);
  expect(o.lengths >= 1, "search: lengths must be at least 1, not {}", o.lengths);
  expect(slots == 0 || o.lengths == 1, "search: a model with slots has no choice of lengths: 1, not {}", o.lengths);
  expect(o.nbest >= 1 && o.nbest <= o.lengths, "search: nbest must be from 1 to lengths = {}, not {}", o.lengths,
         o.nbest);
  expect(o.beam == 1 && !o.sample && o.beta == 0.0,
         "search: beam, sample and beta are for models that generate step by step");
}

/// find(sources) for those that are not empty.
template <class Find>
std::vector<Result> where_there_is_a_source(const Sources& sources, const Find& find) {
  std::vector<int64_t> offsets = {0}, numbers, places;
  std::vector<Result> results(static_cast<size_t>(sources.size()));
  for (int64_t b = 0; b < sources.size(); ++b) {
    if (sources.at(b).empty()) {
      results[static_cast<size_t>(b)].hypotheses.push_back({.finished = true});
      continue;
    }
    offsets.push_back(sources.offsets[static_cast<size_t>(b) + 1]);  // what is empty takes no place
    numbers.push_back(sources.number(b));
    places.push_back(b);
  }
  if (places.empty()) return results;
  std::vector<Result> found = find(Sources{.ids = sources.ids, .offsets = offsets, .numbers = numbers});
  for (size_t i = 0; i < places.size(); ++i) results[static_cast<size_t>(places[i])] = std::move(found[i]);
  return results;
}

}  // namespace

std::vector<Result> search(const model::Generator& generator, Tape& tape, const Sources& sources,
                           const Options& options) {
  check_both(tape, sources, options);
  check_steps(options);
  return where_there_is_a_source(sources, [&](const Sources& there) {
    Stepper stepper(generator, tape, there, options);
    return options.sample ? sample(stepper) : (options.beam == 1 ? greedy(stepper) : beam_search(stepper));
  });
}

std::vector<Result> search(const model::ParallelGenerator& generator, Tape& tape, const Sources& sources,
                           const Options& options) {
  check_both(tape, sources, options);
  check_passes(options, generator.slots());
  return where_there_is_a_source(sources,
                                 [&](const Sources& there) { return refine(generator, tape, there, options); });
}

}  // namespace heed::search
