#include "heed/task/search_options.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/task/decoding_option.h"
#include "heed/text/tokens.h"

namespace heed::task {

namespace {

/// What parallel decoders with and without slots take.
void check_lengths(const PredictOptions& o, bool has_slots) {
  constexpr const char* kHint = "is for models that predict lengths, but this one has slots (model.length = \"slots\")";
  expect(!has_slots || o.lengths <= 1, "lengths {} {}", o.lengths, kHint);
  expect(!has_slots || o.nbest == 1, "nbest {} {}", o.nbest, kHint);
  expect(!has_slots || o.length_factor == 0.0, "length_factor {} {}: use length", o.length_factor, kHint);
  const bool chosen = o.length > 0 || o.length_factor > 0.0;
  const char* how = o.length > 0 ? "length" : "length_factor";
  expect(o.length == 0 || o.length_factor == 0.0,
         "length {} and length_factor {} cannot be combined: each says how long "
         "an output is",
         o.length, o.length_factor);
  expect(!chosen || (o.lengths <= 1 && o.nbest == 1),
         "{} says how long the output is, so there is one: it cannot be combined with {} {}", how,
         o.lengths > 1 ? "lengths" : "nbest", o.lengths > 1 ? o.lengths : o.nbest);
  expect(!chosen || o.max_length == 0,
         "{} and max_length {} cannot be combined: the first says how long every output is", how, o.max_length);
  expect(o.lengths == 0 || o.nbest <= o.lengths, "nbest {} needs lengths of at least {}, not {}", o.nbest, o.nbest,
         o.lengths);
}

/// Outputs of different lengths.
int64_t lengths_of(const PredictOptions& o, const OutputLimits& limits) {
  if (limits.has_slots) return 1;
  return o.lengths > 0 ? o.lengths : std::max(kLengths, o.nbest);
}

}  // namespace

search::Options search_options(const PredictOptions& o, const OutputLimits& limits, const text::Tokeniser& target) {
  check_values(o);
  check_readers(o, limits.parallel ? kParallel : kStepwise);
  if (limits.parallel) check_lengths(o, limits.has_slots);
  expect(!o.sample || o.beam <= 1, "sample cannot be combined with a beam of {}: nbest sets the number of samples",
         o.beam);
  expect(!o.mean_score || o.length_penalty == 0.0,
         "mean_score and length_penalty {} cannot be combined: each is a way to rank", o.length_penalty);
  expect(!o.tree || !o.sample, "tree shows what a search considered: it cannot be combined with sample");
  expect(!o.on_text || !o.sample || o.nbest == 1,
         "on_text shows an output while it is written: one sample, not nbest {}, of which none leads", o.nbest);
  const bool wants = !o.must.empty() || std::any_of(o.line_rules.begin(), o.line_rules.end(),
                                                    [](const LineRules& rules) { return !rules.must.empty(); });
  expect(!wants || !o.sample, "must cannot be combined with sample: words that must come need a search");
  expect(!wants || o.groups == 1, "must cannot be combined with groups");
  // With slots its END has no place of its own in the positions.
  const int64_t room = limits.has_slots ? limits.most_tokens : limits.max_positions;
  expect(o.length <= room, "length {}: the model {} {}", o.length,
         limits.has_slots ? "has slots for" : "has positions for", room);
  const int64_t layers = std::ssize(limits.heads), layer = o.layer > 0 ? o.layer : layers;
  expect(o.layer <= layers, "layer {}: the decoder has {}", o.layer, layers);
  if (layers > 0) {
    const int64_t heads = limits.heads[static_cast<size_t>(layer - 1)];
    expect(o.head <= heads, "head {}: layer {} has {}", o.head, layer, heads);
  }
  const int64_t beam = o.beam > 0 ? o.beam : (o.sample || limits.parallel ? 1 : o.nbest);
  expect(o.sample || limits.parallel || o.nbest <= beam, "nbest {} needs a beam of at least {}, not {}", o.nbest,
         o.nbest, beam);
  expect(beam % o.groups == 0, "groups {}: a beam of {} cannot be cut into equal groups", o.groups, beam);
  expect(o.max_length <= limits.max_positions, "max_length {}: the model has positions for {}", o.max_length,
         limits.max_positions);
  return {.start = text::kStart,
          .end = text::kEnd,
          .never = target.never_written({.unknown = o.allow_unknown || o.copy_unknown, .start = limits.writes_lines}),
          .longest = o.max_length > 0 ? o.max_length : std::min(limits.longest, limits.max_positions),
          .beam = beam,
          .nbest = o.nbest,
          .groups = o.groups,
          .diversity = o.diversity,
          .length = o.mean_score ? search::LengthNormalisation::mean : search::LengthNormalisation::wu,
          .alpha = o.length_penalty,
          .beta = o.coverage,
          .sample = o.sample,
          .temperature = o.temperature,
          .top_k = o.top_k,
          .top_p = o.top_p,
          .distinct = o.distinct,
          .seed = o.seed,
          .no_repeat_ngram = o.no_repeat_ngram,
          .iterations = o.iterations > 0 ? o.iterations : kIterations,
          .lengths = lengths_of(o, limits),
          .given_length = o.length,
          .length_factor = o.length_factor,
          .tree = o.tree,
          .alignment = o.alignments,
          .heads = {.layer = o.layer > 0 ? o.layer - 1 : search::Heads::kLast,
                    .head = o.head > 0 ? o.head - 1 : search::Heads::kMean}};
}

}  // namespace heed::task
