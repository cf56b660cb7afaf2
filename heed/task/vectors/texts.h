// Pairs of texts that belong together: what a model of vectors is trained and validated on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/task/task.h"
#include "heed/task/text_pairs.h"

namespace heed::task {

class TextCouples final : public data::Dataset {
 public:
  void add(const data::Source& both, int64_t line);

  int64_t size() const override { return texts_.size(); }
  int64_t line_number(int64_t i) const override { return line_[static_cast<size_t>(i)]; }
  int64_t predictions(int64_t) const override { return 1; }
  int64_t longest_sequence(int64_t i) const override;
  std::vector<data::Indices> batches(const data::BatchOptions& options, int64_t epoch) const override;
  data::Batch pack(std::span<const int64_t> examples) const override;

  data::Source operator[](int64_t i) const { return texts_[i]; }

 private:
  data::Sources texts_;
  std::vector<int64_t> line_;
};

/// The tokens that a model reads of a text: at most `most`, 0: all; with `ends` between <s> and </s>, which count.
std::vector<int32_t> read_tokens(std::string_view text, const text::Tokeniser& tokeniser, int64_t most, bool ends);

class RawCouples final : public RawCorpus {
 public:
  RawCouples(const data::Options& options, uint64_t seed) : pairs_(load_pairs(options, seed)) {}

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& data, const model::Options& model) override;
  data::References validation() const override { return {}; }
  std::string validation_report() const override { return pairs_.reports.back().text(); }

 private:
  TextPairs pairs_;
};

}  // namespace heed::task
