#include "heed/task/search_options.h"

#include <algorithm>

#include "heed/tensor/error.h"
#include "heed/text/tokens.h"

namespace heed::task {

namespace {

template <class Number>
void expect_between(const char* name, Number value, Number least, Number most) {
  expect(value >= least && value <= most, "{}: expected a number from {} to {}, got {}", name, least, most, value);
}

void check_numbers(const PredictOptions& o) {
  expect_between<int64_t>("beam", o.beam, 0, kWidest);
  expect_between<int64_t>("nbest", o.nbest, 1, kWidest);
  expect_between<int64_t>("iterations", o.iterations, 0, kMostIterations);
  expect_between<int64_t>("lengths", o.lengths, 0, kWidest);
  expect_between("length_penalty", o.length_penalty, 0.0, kLargestPenalty);
  expect_between("coverage", o.coverage, 0.0, kLargestPenalty);
  expect_between<int64_t>("max_length", o.max_length, 0, kLongest);
  expect_between("temperature", o.temperature, kColdest, kHottest);
  expect_between<int64_t>("top_k", o.top_k, 0, kMostTopK);
  expect_between("top_p", o.top_p, kLeastShare, 1.0);
  expect_between<int64_t>("groups", o.groups, 1, kWidest);
  expect_between("diversity", o.diversity, 0.0, kLargestDiversity);
  expect_between<int64_t>("no_repeat_ngram", o.no_repeat_ngram, 0, kLongestNgram);
  expect_between<int64_t>("layer", o.layer, 0, kMostLayers);
  expect_between<int64_t>("head", o.head, 0, kMostHeadsOfALayer);
}

/// Options of the other kind of model.
void check_kind(const PredictOptions& o, const OutputLimits& limits) {
  if (limits.parallel) {
    constexpr const char* kHint =
        "is for models that write step by step, but this one writes all positions at once: use iterations and lengths";
    expect(o.beam <= 1, "beam {} {}", o.beam, kHint);
    expect(!o.sample, "sample {}", kHint);
    expect(o.length_penalty == 0.0, "length_penalty {} {}", o.length_penalty, kHint);
    expect(o.coverage == 0.0, "coverage {} {}", o.coverage, kHint);
    expect(o.must.empty(), "must {}", kHint);
    expect(o.must_not.empty(), "must_not {}", kHint);
    expect(o.prefix.empty(), "prefix {}", kHint);
    expect(o.line_rules.empty(), "line_rules {}", kHint);
    expect(o.no_repeat_ngram == 0, "no_repeat_ngram {} {}", o.no_repeat_ngram, kHint);
    expect(o.groups == 1, "groups {} {}", o.groups, kHint);
    expect(!o.tree, "tree {}", kHint);
    expect(!limits.has_slots || o.lengths <= 1,
           "lengths {} is for models that predict lengths, but this one has slots (model.length = \"slots\")",
           o.lengths);
    expect(!limits.has_slots || o.nbest == 1,
           "nbest {} is for models that predict lengths, but this one has slots (model.length = \"slots\")", o.nbest);
    expect(o.lengths == 0 || o.nbest <= o.lengths, "nbest {} needs lengths of at least {}, not {}", o.nbest, o.nbest,
           o.lengths);
    return;
  }
  constexpr const char* kHint =
      "is for models that write all positions at once (model.decoder = \"parallel\"), but this one writes step by step";
  expect(o.iterations == 0, "iterations {} {}: use beam", o.iterations, kHint);
  expect(o.lengths == 0, "lengths {} {}: use beam", o.lengths, kHint);
}

/// Outputs of different lengths.
int64_t lengths_of(const PredictOptions& o, const OutputLimits& limits) {
  if (limits.has_slots) return 1;
  return o.lengths > 0 ? o.lengths : std::max(kLengths, o.nbest);
}

}  // namespace

void expect_no_writing(const PredictOptions& o) {
  const auto refuse = [](bool used, const char* name) {
    expect(!used, "{} is for models that write; this one gives a label", name);
  };
  refuse(!o.must.empty(), "must");
  refuse(!o.must_not.empty(), "must_not");
  refuse(!o.prefix.empty(), "prefix");
  refuse(!o.line_rules.empty(), "line_rules");
  refuse(o.no_repeat_ngram > 0, "no_repeat_ngram");
  refuse(o.groups > 1, "groups");
  refuse(!o.mbr.empty(), "mbr");
  refuse(static_cast<bool>(o.rerank_reverse), "rerank_reverse");
}

search::Options search_options(const PredictOptions& o, const OutputLimits& limits) {
  check_numbers(o);
  check_kind(o, limits);
  expect(o.sample || o.temperature == 1.0, "temperature {} is only for sampling: it needs sample", o.temperature);
  expect(o.sample || o.top_k == 0, "top_k {} is only for sampling: it needs sample", o.top_k);
  expect(o.sample || o.top_p == 1.0, "top_p {} is only for sampling: it needs sample", o.top_p);
  expect(!o.sample || o.beam <= 1, "sample cannot be combined with a beam of {}: nbest sets the number of samples",
         o.beam);
  expect(!o.mean_score || o.length_penalty == 0.0,
         "mean_score and length_penalty {} cannot be combined: each is a way to rank", o.length_penalty);
  expect(o.sample || !o.distinct, "distinct is only for sampling: it needs sample");
  expect(!o.tree || !o.sample, "tree shows what a search considered: it cannot be combined with sample");
  expect(!o.on_text || !o.sample || o.nbest == 1,
         "on_text shows an output while it is written: one sample, not nbest {}, of which none leads", o.nbest);
  const bool wants = !o.must.empty() || std::any_of(o.line_rules.begin(), o.line_rules.end(),
                                                    [](const LineRules& rules) { return !rules.must.empty(); });
  expect(!wants || !o.sample, "must cannot be combined with sample: words that must come need a search");
  expect(!wants || o.groups == 1, "must cannot be combined with groups");
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
          .tree = o.tree,
          .alignment = o.alignments,
          .heads = {.layer = o.layer > 0 ? o.layer - 1 : search::Heads::kLast,
                    .head = o.head > 0 ? o.head - 1 : search::Heads::kMean}};
}

}  // namespace heed::task
