#include "heed/search/search.h"

#include <cmath>

#include "heed/search/strategies.h"
#include "heed/tensor/error.h"

namespace heed::search {

namespace {

void check(const Tape& tape, const Sources& sources, const Options& o) {
  expect(!tape.recording() && !tape.training(), "search: the tape must neither record nor train");
  expect(!sources.offsets.empty() && sources.offsets.front() == 0 && sources.offsets.back() == std::ssize(sources.ids),
         "search: the offsets of the sources must go from 0 to their {} ids", sources.ids.size());
  expect(sources.numbers.empty() || std::ssize(sources.numbers) == sources.size(), "search: {} numbers for {} sources",
         sources.numbers.size(), sources.size());
  expect(o.longest >= 1, "search: longest must be at least 1, not {}", o.longest);
  expect(o.beam >= 1, "search: beam must be at least 1, not {}", o.beam);
  expect(o.nbest >= 1 && (o.sample || o.nbest <= o.beam), "search: nbest must be from 1 to beam = {}, not {}", o.beam,
         o.nbest);
  expect(o.alpha >= 0.0 && std::isfinite(o.alpha), "search: alpha must not be below 0, but is {}", o.alpha);
  expect(o.beta >= 0.0 && std::isfinite(o.beta), "search: beta must not be below 0, but is {}", o.beta);
  expect(o.heads.layer >= Heads::kLast && o.heads.head >= Heads::kMean,
         "search: there are no weights of layer {} and head {}", o.heads.layer, o.heads.head);
  if (!o.sample) return;
  expect(o.beam == 1, "search: sampling has no beam; set nbest to the number of samples");
  expect(o.temperature > 0.0 && std::isfinite(o.temperature), "search: temperature must be above 0, not {}",
         o.temperature);
  expect(o.top_k >= 0, "search: top_k must not be below 0, but is {}", o.top_k);
  expect(o.top_p > 0.0 && o.top_p <= 1.0, "search: top_p must be above 0 and at most 1, not {}", o.top_p);
}

}  // namespace

std::vector<Result> search(const model::Generator& generator, Tape& tape, const Sources& sources,
                           const Options& options) {
  check(tape, sources, options);
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
  const Sources there{.ids = sources.ids, .offsets = offsets, .numbers = numbers};
  Stepper stepper(generator, tape, there, options);
  std::vector<Result> found =
      options.sample ? sample(stepper) : (options.beam == 1 ? greedy(stepper) : beam_search(stepper));
  for (size_t i = 0; i < places.size(); ++i) results[static_cast<size_t>(places[i])] = std::move(found[i]);
  return results;
}

}  // namespace heed::search
