// From the data of a recipe to pictures with questions and answers, and on to what is trained and validated on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/data/examples.h"
#include "heed/task/task.h"
#include "heed/task/text_pairs.h"

namespace heed::task {

/// The columns of a TSV that a recipe leaves open: picture, question and answer; of two columns picture and answer.
/// `files` with a picture_column, and source_column (of the questions; 0: none) and target_column found.
data::PairFiles find_picture_columns(data::PairFiles files);

/// Why the first lines of a TSV look like pictures with words: "column 1 names pictures". Empty: they do not.
std::string looks_like_pictures(const std::filesystem::path& tsv);

/// A picture, and perhaps a tab and a question: heed/data/picture_source.h.
LineParts parts_of_line(std::string_view line);
/// What data is held out by.
std::string_view picture_of(std::string_view source);

class RawPictureCorpus final : public RawCorpus {
 public:
  RawPictureCorpus(data::Options options, uint64_t seed);

  std::vector<Suggestion> suggest(const OpenKeys& open, const data::Options& data,
                                  const model::Options& model) const override;
  Vocabularies learn_vocabularies(const data::Options& options, const Vocabularies* known) const override;
  Corpus encode(const Vocabularies& vocabularies, const data::Options& options, const model::Options& model) override;
  data::References validation() const override { return data::group_references(pairs_.valid); }
  std::string validation_report() const override;

 private:
  bool has_questions() const;
  data::Examples read_pictures(const data::Pairs& pairs, const Vocabularies& vocabularies, const model::Options& model,
                               data::Report& report, data::Pairs* kept) const;

  TextPairs pairs_;  // sources: a picture, and perhaps a tab and a question (heed/data/picture_source.h)
};

}  // namespace heed::task
