// From the data of a recipe to recordings with their words, and on to what is trained and validated on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/examples.h"
#include "heed/task/task.h"
#include "heed/task/text_pairs.h"

namespace heed::task {

/// Why a table or a folder looks like recordings with words: "column 1 names recordings". Empty: it does not.
std::string looks_like_speech(const std::filesystem::path& file);

class RawSpeechCorpus final : public RawCorpus {
 public:
  RawSpeechCorpus(const data::Options& options, uint64_t seed);

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override;
  data::References validation() const override { return data::group_references(pairs_.valid); }
  std::string validation_report() const override { return pairs_.reports.back().text(); }

 private:
  TextPairs pairs_;  // sources: the names of recordings
};

}  // namespace heed::task
