// From files of running text to what a model of the next token is trained and validated on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/task/language_model/running_text.h"
#include "heed/task/task.h"

namespace heed::task {

/// What one look through a text tells.
struct RunningTextFacts {
  int64_t lines = 0, documents = 0, characters = 0, words = 0;
  int64_t before_last = 0;  // characters before the last line
  int64_t letters = 0;      // different characters, among the lines that are learned from
};

class RawTextCorpus final : public RawCorpus {
 public:
  /// Reads through the files once. They are read again to be encoded, and never held.
  RawTextCorpus(const data::Options& options, uint64_t seed);

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override;
  data::References validation() const override { return {}; }
  std::string validation_report() const override;

 private:
  void look(const std::filesystem::path& file);
  bool is_held_out(const TextLine& line, int64_t characters_before) const;
  /// Of the last line of a text whose lines are too long to hold one out: the bytes that are trained on.
  size_t kept_of(std::string_view line) const;

  data::Options options_;
  Documents documents_;
  uint64_t seed_;
  RunningTextFacts facts_;
  data::Report report_;
  double held_out_ = 0;              // share
  std::vector<std::string> sample_;  // lines to learn a vocabulary from
};

}  // namespace heed::task
