// Pairs of texts, a source and what should be said of it, from the data of a recipe: what several tasks read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/data/examples.h"
#include "heed/data/report.h"
#include "heed/task/task.h"

namespace heed::task {

struct TextPairs {
  data::Pairs train, valid;
  std::vector<data::Report> reports;  // of unusable lines: training, validation
  int64_t lines = 0;                  // of the file for training, the unusable ones too
};

/// Reads or generates the pairs. Without validation files, a share of the sources is held out, with all their targets.
/// `key`: what a source is known by then; those with the same key stay together.
using SourceKey = std::string_view (*)(std::string_view source);
TextPairs load_pairs(
    const data::Options& options, uint64_t seed, SourceKey key = [](std::string_view source) { return source; });

/// `sources`: with data.joint of both sides. With `known`, missing tokens are added to those vocabularies, as far as
/// there are any; SentencePiece's pieces stay as they are.
Vocabularies learn_vocabularies(const data::Pairs& pairs, const data::Options& options,
                                const Vocabularies* known = nullptr);
using Sentences = std::vector<std::string_view>;
Vocabularies learn_vocabularies(const Sentences& sources, const Sentences& targets, const data::Options& options,
                                const Vocabularies* known = nullptr);

/// Where lines of the validation are counted: with the training, if they were held out from it.
data::Report& validation_report_of(TextPairs& pairs, const data::Options& options);
/// Adds what the user should know about lines that were skipped. Throws if nothing is left to train or validate on.
void check_and_warn(Corpus& corpus, TextPairs& pairs, const data::Options& options);

/// A hash of all ids: Corpus::fingerprint.
std::string fingerprint_of(const data::Examples& train, const data::Examples& valid);

}  // namespace heed::task
