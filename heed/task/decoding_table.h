// Every option of decoding, once. From this list follow the fields of PredictOptions, their checks, the options of the
// program, the members of HTTP requests and openapi.json, the keywords of Python's predict() with their types, and the
// table in docs/decoding.md (`make docs`).
#pragma once

#include <cstdint>

namespace heed::task {

// The ends of ranges that others need too.
inline constexpr int64_t kWidest = 1000;                                  // hypotheses: more is a mistake
inline constexpr int64_t kLongest = 1'000'000;                            // tokens of an output
inline constexpr double kColdest = 1e-3, kHottest = 100.0;                // temperature
inline constexpr int64_t kMostTopK = 1'000'000'000;                       // top_k
inline constexpr int64_t kMostLayers = 1000, kMostHeadsOfALayer = 65536;  // layer, head
inline constexpr double kLeastShare = 1e-9;                               // top_p

// The defaults of parallel decoders: every further length costs as much as the first (docs/non_autoregressive.md).
inline constexpr int64_t kIterations = 4, kLengths = 1;

}  // namespace heed::task

/// X(type, name, default, facts, meaning). `facts` are calls of DecodingOption (decoding_option.h), in any order:
///   in(group)         where help and documents list it; each command takes some of the groups
///   from_to(a, b)     the range of a number
///   or_zero(text)     0 is allowed too, and stands for what the text says: the default
///   value(word)       what help calls its value
///   needs(option)     it means nothing unless that one is on
///   read_by(models)   kStepwise, kParallel, kLabels, kFilling: which kinds of models it means something for
///   counts(what)      hypotheses or tokens, which a server limits; served_to(n): at most n there
///   also(name)        its name in Hugging Face's generate() or CTranslate2, if the meaning is the same
// clang-format off
#define HEED_DECODING_OPTIONS(X)                                                                                       \
  X(int64_t, beam, 0, in(DecodingGroup::search).from_to(1, kWidest).or_zero("1, greedy search; or nbest").value("N")                 \
      .read_by(kStepwise).counts(Counted::outputs).also("num_beams").also("beam_size"),                                        \
    "beam size")                                                                                                       \
  X(int64_t, nbest, 1, in(DecodingGroup::outputs).from_to(1, kWidest).value("N").read_by(kAll).counts(Counted::outputs)                      \
      .also("num_return_sequences").also("num_hypotheses"),                                                            \
    "outputs per line, the best first; without a beam, it is also the beam size")                                      \
  X(double, length_penalty, 0.0, in(DecodingGroup::search).from_to(0.0, 100.0).value("A").read_by(kStepwise),                        \
    "divide log p by ((5 + length) / 6)^A; 0.6 is common")                                                             \
  X(bool, mean_score, false, in(DecodingGroup::search).read_by(kWriters),                                                            \
    "rank by log p divided by the length, instead of by length_penalty")                                               \
  X(double, coverage, 0.0, in(DecodingGroup::search).from_to(0.0, 100.0).value("B").read_by(kStepwise).also("coverage_penalty"),     \
    "weight of the penalty for source tokens without attention; 0.2 is common")                                        \
  X(int64_t, max_length, 0, in(DecodingGroup::search).from_to(1, kLongest).or_zero("validate.longest of the model's recipe")         \
      .value("N").read_by(kAll).counts(Counted::tokens).also("max_new_tokens").also("max_decoding_length"),                                    \
    "longest output, in tokens")                                                                                       \
  X(int64_t, stride, 0, in(DecodingGroup::search).from_to(1, kLongest).or_zero("half a window").value("N")             \
      .read_by(kStepwise),                                                                                             \
    "Transformers of running text: tokens from one window of model.context tokens to the next")                        \
  X(int64_t, iterations, 0, in(DecodingGroup::search).from_to(1, 1000).served_to(100).or_zero("4").value("N").read_by(kParallel),                   \
    "parallel decoders: passes over an output")                                                                        \
  X(int64_t, lengths, 0, in(DecodingGroup::search).from_to(1, kWidest).or_zero("1, or nbest if more").value("N")                     \
      .read_by(kParallel).counts(Counted::outputs),                                                                            \
    "parallel decoders: outputs of different lengths to try")                                                          \
  X(int64_t, length, 0, in(DecodingGroup::search).from_to(1, kLongest).or_zero("the model predicts it").value("N")     \
      .read_by(kParallel).counts(Counted::tokens),                                                                     \
    "parallel decoders: tokens of every output")                                                                       \
  X(double, length_factor, 0.0, in(DecodingGroup::search).from_to(0.01, 100.0).or_zero("1").value("F")                 \
      .read_by(kParallel),                                                                                             \
    "parallel decoders: times the length that the model finds likeliest")                                              \
  X(int64_t, groups, 1, in(DecodingGroup::search).from_to(1, kWidest).value("N").read_by(kStepwise).counts(Counted::outputs)                 \
      .also("num_beam_groups"),                                                                                        \
    "diverse beam search: cut the beam into N groups that avoid each other's tokens")                                  \
  X(double, diversity, 0.5, in(DecodingGroup::search).from_to(0.0, 1000.0).value("D").read_by(kWriters)                              \
      .also("diversity_penalty"),                                                                                      \
    "diverse beam search: what a token costs a group for each one that took it at the same step")                      \
  X(std::vector<std::string>, must, {}, in(DecodingGroup::rules).value("TEXT").read_by(kStepwise),                                   \
    "a word or phrase that every output contains; may be repeated")                                                    \
  X(std::vector<std::string>, must_not, {}, in(DecodingGroup::rules).value("TEXT").read_by(kStepwise),                               \
    "a word or phrase that no output contains; may be repeated")                                                       \
  X(std::string, prefix, {}, in(DecodingGroup::rules).value("TEXT").read_by(kStepwise),                                              \
    "what every output begins with; its probability counts")                                                           \
  X(int64_t, no_repeat_ngram, 0, in(DecodingGroup::rules).from_to(1, 1000).or_zero("they may").value("N").read_by(kStepwise)         \
      .also("no_repeat_ngram_size"),                                                                                   \
    "no N tokens come twice in an output")                                                                             \
  X(std::string, mbr, {}, in(DecodingGroup::reranking).value("METRIC").read_by(kWriters),                                            \
    "choose the candidate that agrees most with all others by this metric: chrf, bleu (minimum Bayes risk)")           \
  X(int64_t, candidates, 0, in(DecodingGroup::reranking).from_to(1, kWidest).or_zero("the beam size or 10, 50 of samples")           \
      .value("N").read_by(kWriters),                                                                                   \
    "with mbr or rerank_reverse: outputs to choose from")                                                              \
  X(double, rerank_weight, 1.0, in(DecodingGroup::reranking).from_to(0.0, 1000.0).value("W").read_by(kWriters),                      \
    "with rerank_reverse: factor of its log p")                                                                        \
  X(bool, sample, false, in(DecodingGroup::sampling).read_by(kStepwise).also("do_sample"),                                           \
    "sample every token instead of taking the likeliest")                                                              \
  X(double, temperature, 1.0, in(DecodingGroup::sampling).from_to(kColdest, kHottest).value("T").needs("sample")                     \
      .read_by(kStepwise).also("sampling_temperature"),                                                                \
    "with sample: below 1 more cautious, above 1 more varied")                                                         \
  X(int64_t, top_k, 0, in(DecodingGroup::sampling).from_to(1, kMostTopK).or_zero("all").value("K").needs("sample")                   \
      .read_by(kStepwise).also("sampling_topk"),                                                                       \
    "with sample: only the K likeliest tokens")                                                                        \
  X(double, top_p, 1.0, in(DecodingGroup::sampling).from_to(kLeastShare, 1.0).value("P").needs("sample").read_by(kStepwise)          \
      .also("sampling_topp"),                                                                                          \
    "with sample: only the likeliest tokens, up to a total probability of P")                                          \
  X(bool, distinct, false, in(DecodingGroup::sampling).needs("sample").read_by(kStepwise),                                           \
    "with sample: nbest outputs that all differ, drawn without replacement")                                           \
  X(uint64_t, seed, 0, in(DecodingGroup::sampling).value("N").read_by(kAll),                                                         \
    "with sample: a line's samples depend only on the seed and its number")                                            \
  X(int64_t, layer, 0, in(DecodingGroup::alignment).from_to(1, kMostLayers).or_zero("the last").value("N").read_by(kAll),            \
    "decoder layer, counted from 1, whose attention alignments and coverage use")                                      \
  X(int64_t, head, 0, in(DecodingGroup::alignment).from_to(1, kMostHeadsOfALayer).or_zero("the mean of all").value("N")              \
      .read_by(kAll),                                                                                                  \
    "head of that layer, counted from 1")                                                                              \
  X(bool, allow_unknown, false, in(DecodingGroup::search).read_by(kWriters),                                           \
    "outputs may have ⁇, the mark of a token that is not in the vocabulary; otherwise the model writes something else")  \
  X(bool, copy_unknown, false, in(DecodingGroup::alignment).read_by(kWriters).also("replace_unknowns"),                              \
    "allow unknown tokens, and in the text replace each by the source token with the most attention")
// clang-format on
