// From the data of a recipe to texts with labels, and on to what is trained and validated on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/report.h"
#include "heed/task/classification/columns.h"
#include "heed/task/classification/labelled_texts.h"
#include "heed/task/task.h"
#include "heed/task/text_pairs.h"

namespace heed::task {

/// Puts data.vectors, if given, into the table of the words. Returns how many of them it has.
std::vector<std::string> start_from_vectors(Parameters& parameters, const Vocabularies& vocabularies,
                                            const data::Options& options, bool fresh);

/// A file to evaluate on, read as the training data of these options was.
data::References read_labelled(const std::filesystem::path& tsv, const data::Options& options, data::Report& report);

/// How a model reads a text.
struct Reading {
  bool by_sentence = false;  // cut into sentences first
  bool two_texts = false;    // a tab separates it from a second text
  int64_t most_tokens = 0;   // of each; 0: no limit
  bool framed = false;       // <s> and </s> around them, which count
};

/// The tokens of a text.
struct CutText {
  std::vector<int32_t> tokens;
  std::vector<int32_t> lengths;             // of the sentences
  std::vector<std::string_view> sentences;  // parts of the text
  std::vector<int32_t> second;              // tokens of the second text
  std::string_view second_text = {};
  std::string error = {};  // why it cannot be read; otherwise empty

  data::Source source() const { return {.tokens = tokens, .sentences = lengths, .second = second}; }
  bool is_empty(const Reading& reading) const { return tokens.empty() || (reading.two_texts && second.empty()); }
};
CutText cut_text(std::string_view text, const text::Tokeniser& tokeniser, const Reading& reading);

class RawLabelCorpus final : public RawCorpus {
 public:
  RawLabelCorpus(data::Options options, uint64_t seed);

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override;
  data::References validation() const override { return data::separate_references(pairs_.valid); }
  std::string validation_report() const override;

 private:
  LabelColumns columns_;
  TextPairs pairs_;
};

}  // namespace heed::task
