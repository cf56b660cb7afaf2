#include "heed/predict/options.h"

#include "heed/tensor/error.h"
#include "heed/text/tokens.h"
#include "heed/train/load_model.h"

namespace heed::predict {

namespace {

template <class Number>
void expect_between(const char* name, Number value, Number least, Number most) {
  expect(value >= least && value <= most, "{}: expected a number from {} to {}, got {}", name, least, most, value);
}

void check_numbers(const Options& o) {
  expect_between<int64_t>("beam", o.beam, 0, kWidest);
  expect_between<int64_t>("nbest", o.nbest, 1, kWidest);
  expect_between("length_penalty", o.length_penalty, 0.0, kLargestPenalty);
  expect_between("coverage", o.coverage, 0.0, kLargestPenalty);
  expect_between<int64_t>("max_length", o.max_length, 0, kLongest);
  expect_between("temperature", o.temperature, kColdest, kHottest);
  expect_between<int64_t>("top_k", o.top_k, 0, kMostTokens);
  expect_between("top_p", o.top_p, kLeastShare, 1.0);
}

}  // namespace

search::Options search_options(const Options& o, const train::Recipe& recipe) {
  check_numbers(o);
  expect(o.sample || o.temperature == 1.0, "temperature {} is for samples, and sample is not asked for", o.temperature);
  expect(o.sample || o.top_k == 0, "top_k {} is for samples, and sample is not asked for", o.top_k);
  expect(o.sample || o.top_p == 1.0, "top_p {} is for samples, and sample is not asked for", o.top_p);
  expect(!o.sample || o.beam <= 1, "sample goes without a beam, not with one of {}: nbest says how many are drawn",
         o.beam);
  const int64_t beam = o.beam > 0 ? o.beam : (o.sample ? 1 : o.nbest);
  expect(o.sample || o.nbest <= beam, "nbest {} needs a beam of at least {}, not {}", o.nbest, o.nbest, beam);
  const int64_t places = train::places(recipe);
  expect(o.max_length <= places, "max_length {}: the model has places for {}", o.max_length, places);
  return {.start = kStart,
          .end = kEnd,
          .longest = o.max_length > 0 ? o.max_length : train::longest_output(recipe),
          .beam = beam,
          .nbest = o.nbest,
          .alpha = o.length_penalty,
          .beta = o.coverage,
          .sample = o.sample,
          .temperature = o.temperature,
          .top_k = o.top_k,
          .top_p = o.top_p,
          .seed = o.seed,
          .alignment = o.alignments};
}

}  // namespace heed::predict
