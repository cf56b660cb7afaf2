// From files of text to what a model of masked tokens is trained and validated on.
#pragma once

#include <vector>

#include "heed/task/language_model/texts.h"

namespace heed::task {

class RawMaskedCorpus final : public RunningTextCorpus {
 public:
  using RunningTextCorpus::RunningTextCorpus;

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;

 protected:
  void make_examples(Corpus& corpus, const EncodedText& train, const EncodedText& valid, const data::Options& options,
                     const model::Options& model) const override;
};

}  // namespace heed::task
