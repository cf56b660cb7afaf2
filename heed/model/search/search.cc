#include "heed/model/search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/model/search/constraint_tracker.h"
#include "heed/model/search/search_tree.h"
#include "heed/model/search/source_batch.h"
#include "heed/model/search/strategies.h"

namespace heed::search {

namespace {

void check_both(const Tape& tape, const Input& input, const Options& o) {
  expect(!tape.recording() && !tape.training(), "search: the tape must neither record nor train");
  expect(input.numbers.empty() || std::ssize(input.numbers) == input.size(), "search: {} numbers for {} sources",
         input.numbers.size(), input.size());
  expect(o.longest >= 1, "search: longest must be at least 1, not {}", o.longest);
  for (const int32_t token : o.never) {
    expect(token >= 0, "search: never has a token {}, which is not the id of one", token);
    expect(token != o.end, "search: never has token {}, which is END: outputs could not end", token);
  }
  expect(o.heads.layer >= Heads::kLast && o.heads.head >= Heads::kMean,
         "search: there are no weights of layer {} and head {}", o.heads.layer, o.heads.head);
}

void check_steps(const Input& input, const Options& o) {
  expect(o.beam >= 1, "search: beam must be at least 1, not {}", o.beam);
  expect(o.nbest >= 1 && (o.sample || o.nbest <= o.beam), "search: nbest must be from 1 to beam = {}, not {}", o.beam,
         o.nbest);
  expect(o.groups >= 1 && o.beam % o.groups == 0, "search: beam {} cannot be cut into {} groups", o.beam, o.groups);
  expect(o.diversity >= 0.0 && std::isfinite(o.diversity), "search: diversity must not be below 0, but is {}",
         o.diversity);
  expect(o.no_repeat_ngram >= 0, "search: no_repeat_ngram must not be below 0, but is {}", o.no_repeat_ngram);
  expect(input.rules.empty() || std::ssize(input.rules) == input.size(), "search: {} rules for {} sources",
         input.rules.size(), input.size());
  for (const Rules* rules : input.rules) {
    if (!rules) continue;
    expect(rules->must.empty() || (!o.sample && o.groups == 1),
           "search: phrases that must come need a beam search without groups");
    const auto may_come = [&](int32_t token) {
      return std::find(o.never.begin(), o.never.end(), token) == o.never.end();
    };
    expect(std::all_of(rules->prefix.begin(), rules->prefix.end(), may_come),
           "search: a prefix holds a token that never comes");
    expect(std::ssize(rules->prefix) < o.longest, "search: a prefix of {} tokens leaves no room in {}",
           rules->prefix.size(), o.longest);
  }
  expect(o.alpha >= 0.0 && std::isfinite(o.alpha), "search: alpha must not be below 0, but is {}", o.alpha);
  expect(o.beta >= 0.0 && std::isfinite(o.beta), "search: beta must not be below 0, but is {}", o.beta);
  expect(o.sample || !o.distinct, "search: distinct is for samples");
  expect(!o.tree || (!o.sample && input.size() == 1), "search: a tree is of one sentence, and not of samples");
  expect(!o.on_token || !o.sample || o.nbest == 1, "search: on_token is for one sample, not for {}", o.nbest);
  if (!o.sample) return;
  expect(o.beam == 1, "search: sampling has no beam; set nbest to the number of samples");
  expect(o.temperature > 0.0 && std::isfinite(o.temperature), "search: temperature must be above 0, not {}",
         o.temperature);
  expect(o.top_k >= 0, "search: top_k must not be below 0, but is {}", o.top_k);
  expect(o.top_p > 0.0 && o.top_p <= 1.0, "search: top_p must be above 0 and at most 1, not {}", o.top_p);
}

void check_passes(const Input& input, const Options& o, int64_t slots) {
  expect(input.rules.empty() && o.no_repeat_ngram == 0 && o.groups == 1,
         "search: rules, no_repeat_ngram and groups are for models that generate step by step");
  expect(o.iterations >= 1, "search: iterations must be at least 1, not {}", o.iterations);
  expect(o.lengths >= 1, "search: lengths must be at least 1, not {}", o.lengths);
  expect(slots == 0 || o.lengths == 1, "search: a model with slots has no choice of lengths: 1, not {}", o.lengths);
  expect(o.nbest >= 1 && o.nbest <= o.lengths, "search: nbest must be from 1 to lengths = {}, not {}", o.lengths,
         o.nbest);
  expect(o.beam == 1 && !o.sample && o.beta == 0.0 && !o.tree,
         "search: beam, sample, beta and tree are for models that generate step by step");
}

void put_in_place(std::vector<Result>&& found, const SourceBatch& batch, std::vector<Result>& results) {
  for (size_t i = 0; i < found.size(); ++i) results[static_cast<size_t>(batch.places()[i])] = std::move(found[i]);
}

}  // namespace

int64_t width_of(const Input& input, int64_t b, const Options& o) {
  if (o.sample) return o.nbest;
  const Rules* rules = input.rules_of(b);
  return rules && !rules->must.empty() ? std::max(o.beam, ConstraintTracker(rules, o).banks()) : o.beam;
}

std::vector<Result> search(const model::Generator& generator, Tape& tape, const Input& input, const Options& options) {
  check_both(tape, input, options);
  check_steps(input, options);
  if (options.tree) *options.tree = {};
  std::vector<Result> results(static_cast<size_t>(input.size()));
  std::vector<int64_t> one_path, several;  // what is searched greedily, and what needs more hypotheses
  for (int64_t b = 0; b < input.size(); ++b) {
    if (generator.memory_rows(input.sources, b) == 0)
      results[static_cast<size_t>(b)].hypotheses.push_back({.finished = true});
    else
      (!options.sample && !options.tree && width_of(input, b, options) == 1 ? one_path : several).push_back(b);
  }
  const Strategy strategy = options.sample ? (options.distinct ? sample_distinct : sample) : beam_search;
  for (const auto& [places, how] : {std::pair{&one_path, &greedy}, std::pair{&several, strategy}}) {
    if (places->empty()) continue;
    const SourceBatch batch(input, std::move(*places));
    const Input there = batch.view();
    Stepper stepper(generator, tape, there, options);
    put_in_place(how(stepper), batch, results);
  }
  return results;
}

std::vector<Result> search(const model::ParallelGenerator& generator, Tape& tape, const Input& input,
                           const Options& options) {
  check_both(tape, input, options);
  check_passes(input, options, generator.slots());
  std::vector<Result> results(static_cast<size_t>(input.size()));
  std::vector<int64_t> places;
  for (int64_t b = 0; b < input.size(); ++b) {
    if (generator.memory_rows(input.sources, b) == 0)
      results[static_cast<size_t>(b)].hypotheses.push_back({.finished = true});
    else
      places.push_back(b);
  }
  if (places.empty()) return results;
  const SourceBatch batch(input, std::move(places));
  put_in_place(refine(generator, tape, batch.view(), options), batch, results);
  return results;
}

}  // namespace heed::search
