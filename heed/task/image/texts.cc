#include "heed/task/image/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/data/lines.h"
#include "heed/data/picture_source.h"
#include "heed/data/plain_files.h"
#include "heed/task/image/picture_encoder.h"

namespace heed::task {

data::PairFiles find_picture_columns(data::PairFiles files) {
  if (files.source_column >= 0 && files.target_column > 0) return files;
  data::expect_plain_file(files.tsv);
  data::LineReader lines(files.tsv);
  std::string line;
  const bool there = lines.next(line);
  const auto columns = there ? std::ssize(data::columns_of(line)) : 0;
  expect(columns >= 2, ErrorKind::data,
         "{}: a line is a picture file, a question and an answer, or a picture file and a caption, with tabs between "
         "them; line 1 has {} column{}",
         files.tsv.string(), columns, columns == 1 ? "" : "s");
  if (files.source_column < 0) files.source_column = columns > 2 ? 2 : 0;
  if (files.target_column == 0) files.target_column = files.source_column > 0 ? 3 : 2;
  return files;
}

std::string looks_like_pictures(const std::filesystem::path& tsv) {
  constexpr int64_t kLooked = 100;
  data::LineReader lines(tsv);
  int64_t pictures = 0;
  for (std::string line; lines.number() < kLooked && lines.next(line);) {
    const std::vector<std::string_view> columns = data::columns_of(line);
    if (columns.size() >= 2 && data::names_picture(columns.front())) ++pictures;
  }
  // A line of names above the columns, or an odd one, changes nothing.
  return pictures > 0 && 10 * pictures >= 9 * (lines.number() - 1) ? "column 1 names pictures" : "";
}

LineParts parts_of_line(std::string_view line) {
  const data::PictureQuestion parts = data::cut_picture_question(line);
  return {.text = parts.question, .picture = parts.picture};
}

std::string_view picture_of(std::string_view source) { return parts_of_line(source).picture; }

RawPictureCorpus::RawPictureCorpus(data::Options options, uint64_t seed) {
  if (options.task == "none") {
    options.train = find_picture_columns(options.train);
    options.valid.source_column = options.train.source_column;
    options.valid.target_column = options.train.target_column;
  }
  pairs_ = load_pairs(options, seed, picture_of);
}

bool RawPictureCorpus::has_questions() const { return !parts_of_line(pairs_.train.source.front()).text.empty(); }

std::string RawPictureCorpus::validation_report() const { return pairs_.reports.back().text(); }

std::vector<Suggestion> RawPictureCorpus::suggest(const OpenKeys& open, const data::Options&,
                                                  const model::Options& model) const {
  std::vector<Suggestion> all;
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (open.count(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  const bool asked = has_questions();
  say("data.question_column", asked ? "2" : "0", asked ? "picture, question, answer" : "picture, caption");
  say("data.answer_column", asked ? "3" : "2");
  say("model.questions", asked ? "true" : "false");
  // Answers that come again and again are labels: each is one token.
  const std::set<std::string> different(pairs_.train.target.begin(), pairs_.train.target.end());
  constexpr int64_t kOften = 10;
  const bool labels = std::ssize(different) * kOften <= pairs_.train.size();
  say("data.target_tokens", labels ? "lines" : "words", fmt::format("{} different answers", different.size()));
  if (is_untouched(model.attention)) say("attention.score", "additive");
  say("model.width", "64");
  say("model.dropout", "0");
  say("train.batch_tokens", "1024");
  say("train.learning_rate", "0.002");
  say("train.label_smoothing", "0");
  say("validate.decode", "500");
  say("validate.metric", "exact");
  return all;
}

Vocabularies RawPictureCorpus::learn_vocabularies(const data::Options& options, const Vocabularies* known) const {
  data::Pairs texts;
  for (size_t i = 0; i < pairs_.train.line.size(); ++i)
    texts.add(parts_of_line(pairs_.train.source[i]).text, pairs_.train.target[i], pairs_.train.line[i]);
  return task::learn_vocabularies(texts, options, known);
}

data::Examples RawPictureCorpus::read_pictures(const data::Pairs& pairs, const Vocabularies& vocabularies,
                                               const model::Options& model, data::Report& report,
                                               data::Pairs* kept) const {
  const int64_t side = model.picture_size, cells = cells_of_side(side, model.picture_layers);
  expect_memory(3.0 * static_cast<double>(side * side) * static_cast<double>(pairs.size()),
                fmt::format("{} pictures of {} x {} pixels", pairs.size(), side, side),
                "use a smaller model.picture_size");
  data::Examples examples(cells * cells);
  for (size_t i = 0; i < pairs.line.size(); ++i) {
    stop_if_interrupted();
    const LineParts line = parts_of_line(pairs.source[i]);
    const std::vector<int32_t> asked = vocabularies.source->encode(line.text);
    const std::vector<int32_t> answer = vocabularies.target->encode(pairs.target[i]);
    if (answer.empty() || asked.empty() == model.questions) {
      report.drop_kept(data::Fault::empty, pairs.line[i], answer.empty() ? "answer, no tokens" : "question, no tokens");
      continue;
    }
    try {
      examples.source.add({.tokens = asked, .pixels = data::picture_named(line.picture, {side, side}).rgb});
    } catch (const Error& error) {
      report.drop_kept(data::Fault::picture, pairs.line[i], error.what());
      continue;
    }
    examples.target.add(answer);
    examples.line.push_back(pairs.line[i]);
    if (kept) kept->add(pairs.source[i], pairs.target[i], pairs.line[i]);
  }
  return examples;
}

Corpus RawPictureCorpus::encode(const Vocabularies& vocabularies, const data::Options& o, const model::Options& model) {
  expect(model.questions == has_questions(), ErrorKind::data,
         "model.questions is {}, but the data has {} (data.question_column)", model.questions,
         has_questions() ? "questions" : "none");
  Corpus corpus;
  data::Pairs kept;
  auto train =
      std::make_unique<data::Examples>(read_pictures(pairs_.train, vocabularies, model, pairs_.reports[0], nullptr));
  auto valid = std::make_unique<data::Examples>(
      read_pictures(pairs_.valid, vocabularies, model, validation_report_of(pairs_, o), &kept));
  corpus.references = data::group_references(kept);
  corpus.fingerprint = fingerprint_of(*train, *valid);
  corpus.train = std::move(train);
  corpus.valid = std::move(valid);
  check_and_warn(corpus, pairs_, o);
  pairs_ = {};
  return corpus;
}

}  // namespace heed::task
