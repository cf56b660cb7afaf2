#include "heed/task/classification/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/sha256.h"
#include "heed/data/word_vectors.h"
#include "heed/task/classification/class_weights.h"
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/keys.h"
#include "heed/task/line_tokens.h"
#include "heed/text/label_set.h"
#include "heed/text/segments.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

/// Without blanks around them, those of a text in order: what means the same is written the same.
data::Pairs with_tidy_labels(data::Pairs pairs, std::string_view between) {
  for (std::string& target : pairs.target) target = text::joined_labels(text::labels_of(target, between), between);
  return pairs;
}

std::string fingerprint_of_texts(const LabelledTexts& train, const LabelledTexts& valid) {
  file::Sha256 hash;
  for (const LabelledTexts* texts : {&train, &valid})
    for (int64_t i = 0; i < texts->size(); ++i) {
      const LabelledText text = (*texts)[i];
      for (const std::span<const int32_t> ids :
           {text.labels, text.source.sentences, text.source.tokens, text.source.second})
        hash.add(std::as_bytes(ids));
    }
  return hash.hex();
}

/// All labels of the texts, each once.
std::set<std::string_view> all_labels(const data::Pairs& pairs, std::string_view between) {
  std::set<std::string_view> all;
  for (const std::string& target : pairs.target)
    for (const std::string_view label : text::labels_of(target, between)) all.insert(label);
  return all;
}

/// What is chosen for two texts. The words of the reason: relation/compare.cc.
constexpr const char* kBestRelation = "compare";

/// Of the texts of a side, about.
struct TextFacts {
  int64_t texts = 0, labels = 0;
  double words = 0;
};

TextFacts facts_of_texts(const data::Pairs& pairs, std::string_view between) {
  constexpr size_t kSome = 1000;
  TextFacts f;
  f.texts = pairs.size();
  size_t words = 0;
  const size_t some = std::min(kSome, pairs.source.size());
  for (size_t i = 0; i < some; ++i) words += text::unicode_words_of(pairs.source[i]).size();
  f.words = static_cast<double>(words) / static_cast<double>(std::max<size_t>(some, 1));
  f.labels = std::ssize(all_labels(pairs, between));
  return f;
}

}  // namespace

std::vector<std::string> start_from_vectors(Parameters& parameters, const Vocabularies& vocabularies,
                                            const data::Options& options, bool fresh) {
  if (options.vectors.empty()) return {};
  Parameter& table = parameters.at("source.weight");
  table.trainable = !options.vectors_fixed;
  if (!fresh) return {};
  const int64_t width = data::width_of_vectors(options.vectors);
  expect(width == table.cols(), ErrorKind::data,
         "{}: the vectors have {} numbers, but model.width is {}: --set model.width={}", options.vectors.string(),
         width, table.cols(), width);
  const data::WordVectors vectors = data::read_word_vectors(options.vectors, *vocabularies.source, width,
                                                            {table.value.data(), static_cast<size_t>(table.size())});
  const int64_t found = vectors.found;
  const int64_t words = vocabularies.source->size() - text::kSpecials;
  expect(found > 0, ErrorKind::data, "{} has none of the {} words of the vocabulary", options.vectors.string(), words);
  std::vector<std::string> said = {
      fmt::format("{} has vectors for {} of {} words; the other {} start from random numbers", options.vectors.string(),
                  found, words, words - found)};
  if (vectors.with_blanks > 0)
    said.push_back(
        fmt::format("{}: {} of its words {} blanks inside, the first '{}' in line {}: no word of the data is one",
                    options.vectors.string(), vectors.with_blanks, vectors.with_blanks == 1 ? "has" : "have",
                    vectors.word.substr(0, 60), vectors.line));
  return said;
}

data::References read_labelled(const std::filesystem::path& tsv, const data::Options& options, data::Report& report) {
  data::PairFiles files = options.train;
  files.tsv = tsv;
  const LabelColumns columns = find_columns(files);
  files.source_column = columns.text;
  files.target_column = columns.label;
  files.second_column = columns.second;
  return data::separate_references(with_tidy_labels(data::read_pairs(files, report), options.label_separator));
}

namespace {

std::vector<int32_t> first_tokens(std::string_view text, const text::Tokeniser& tokeniser, int64_t most) {
  std::vector<int32_t> ids = tokeniser.encode(text);
  if (most >= 0) ids.resize(std::min(ids.size(), static_cast<size_t>(most)));
  return ids;
}

}  // namespace

CutText cut_text(std::string_view text, const text::Tokeniser& tokeniser, const Reading& reading) {
  CutText cut;
  const int64_t ends = reading.framed ? 2 : 0;
  const int64_t most = reading.most_tokens > 0 ? std::max<int64_t>(reading.most_tokens - ends, 0) : -1;
  if (reading.two_texts) {
    const std::vector<std::string_view> texts = data::columns_of(text);
    if (texts.size() != 2) {
      cut.error = fmt::format("a line must be two texts with a tab between them, but has {} column{}", texts.size(),
                              texts.size() == 1 ? "" : "s");
      return cut;
    }
    text = texts[0];
    cut.second_text = texts[1];
    cut.second = first_tokens(texts[1], tokeniser, most);
  }
  const std::vector<std::string_view> parts = reading.by_sentence ? text::sentences_of(text) : std::vector{text};
  for (const std::string_view part : parts) {
    const std::vector<int32_t> ids = first_tokens(part, tokeniser, most < 0 ? most : most - std::ssize(cut.tokens));
    if (ids.empty()) continue;
    cut.tokens.insert(cut.tokens.end(), ids.begin(), ids.end());
    cut.lengths.push_back(static_cast<int32_t>(ids.size()));
    cut.sentences.push_back(part);
    if (std::ssize(cut.tokens) == most) break;
  }
  if (reading.framed && !cut.tokens.empty()) {
    cut.tokens = framed(std::move(cut.tokens));
    cut.lengths.front() += static_cast<int32_t>(ends);
  }
  return cut;
}

RawLabelCorpus::RawLabelCorpus(data::Options options, uint64_t seed) {
  columns_ = find_columns(options.train);
  for (data::PairFiles* files : {&options.train, &options.valid}) {
    files->source_column = columns_.text;
    files->target_column = columns_.label;
    files->second_column = columns_.second;
  }
  pairs_ = load_pairs(options, seed);
  for (data::Pairs* side : {&pairs_.train, &pairs_.valid})
    *side = with_tidy_labels(std::move(*side), options.label_separator);
}

std::string RawLabelCorpus::validation_report() const { return pairs_.reports.back().text(); }

std::vector<Suggestion> RawLabelCorpus::suggest(const OpenKeys& open, const data::Options& data,
                                                const model::Options& model) const {
  const TextFacts f = facts_of_texts(pairs_.train, data.label_separator);
  std::vector<Suggestion> all;
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (open.count(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  constexpr double kDocument = 60;  // words: several sentences
  const bool two = columns_.second > 0;
  say("data.text_column", fmt::format("{}", columns_.text), two ? "" : "the longest column");
  say("data.label_column", fmt::format("{}", columns_.label), fmt::format("{} different labels", f.labels));
  say("data.source_tokens", "unicode_words");
  if (open.count("data.source_tokens")) {
    say("data.source_min_count", f.texts < 2000 || two ? "1" : "2");
    say("data.source_size", "30000");
  }
  const std::string relation = open.count("model.relation") ? kBestRelation : model.own.of<LabelKeys>().relation;
  if (two && relation == kBestRelation) {
    // Chosen on a part of SICK that was held out: docs/labels.md has the figures.
    say("model.relation", kBestRelation, "each word is compared with what it finds in the other text");
    say("model.compared", "both", "the vectors of words beside the states of the encoder");
    say("model.label_hidden", "100");
    if (is_untouched(model.attention)) {
      say("attention.score", "cosine", "a word finds the same word");
      say("attention.temperature", "10");
      say("attention.learned_temperature", "true");
    }
  } else if (model.pool == "attention" && is_untouched(model.attention)) {
    if (f.words >= kDocument && !two)
      say("attention.structure", "hierarchical", fmt::format("documents of {:.0f} words", f.words));
    else
      say("attention.score", "additive", fmt::format("texts of {:.0f} words", f.words));
  }
  if (model.attention.structure == "structured") say("attention.queries", "4", "rows of weights");
  if (data.vectors.empty())
    say("model.width", "100");
  else
    say("model.width", fmt::format("{}", data::width_of_vectors(data.vectors)), "as the vectors of words");
  say("model.dropout", "0.3");
  say("train.batch_tokens", f.words * static_cast<double>(f.texts) >= 200'000 ? "4096" : two ? "512" : "1024");
  say("train.learning_rate", "0.002");
  say("train.label_smoothing", two ? "0.1" : "0");
  const bool has_no_end = open.count("stop.steps") && open.count("stop.minutes") && open.count("stop.patience");
  if (has_no_end) say("stop.epochs", f.words * static_cast<double>(f.texts) < 1e6 ? "8" : "4");
  say("validate.decode", "-1");
  say("validate.metric", data.label_separator.empty() ? "accuracy" : "micro_f1");
  return all;
}

Vocabularies RawLabelCorpus::learn_vocabularies(const data::Options& options, const Vocabularies* known) const {
  Sentences labels;
  for (const std::string& target : pairs_.train.target)
    for (const std::string_view label : text::labels_of(target, options.label_separator)) labels.push_back(label);
  Vocabularies v = task::learn_vocabularies(data::sentences(pairs_.train, data::Side::source), labels, options, known);
  expect(v.target->size() > text::kSpecials + (options.label_separator.empty() ? 1 : 0), ErrorKind::data,
         "all texts have the same label, '{}': there is nothing to learn", v.target->token(text::kSpecials));
  return v;
}

namespace {

/// Classes of the labels, from 0; -1: one that training never saw.
std::vector<int32_t> classes_of(std::string_view target, const text::Tokeniser& labels, std::string_view between) {
  std::vector<int32_t> classes;
  for (const std::string_view label : text::labels_of(target, between)) {
    const int32_t id = labels.encode(label).front();
    classes.push_back(id == text::kUnknown ? -1 : id - text::kSpecials);
  }
  return classes;
}

void weigh_classes(LabelledTexts& train, std::string_view how, const text::Tokeniser& labels) {
  std::vector<int64_t> counts(static_cast<size_t>(labels.size() - text::kSpecials));
  for (int64_t i = 0; i < train.size(); ++i) ++counts[static_cast<size_t>(train[i].labels.front())];
  const std::vector<float> weights = class_weights(how, counts, labels);
  for (int64_t i = 0; i < train.size(); ++i) train.set_weight(i, weights[static_cast<size_t>(train[i].labels.front())]);
}

}  // namespace

Corpus RawLabelCorpus::encode(const Vocabularies& vocabularies, const data::Options& o, const model::Options& model) {
  const Reading reading{.by_sentence = Classifier::reads_sentences(model),
                        .two_texts = model.two_texts,
                        .most_tokens = o.max_source,
                        .framed = model.framed};
  Corpus corpus;
  int64_t unseen = 0;
  const auto cut = [&](const data::Pairs& pairs, data::Report& report, data::Pairs* kept_pairs) {
    auto texts = std::make_unique<LabelledTexts>(!o.label_separator.empty());
    for (size_t i = 0; i < pairs.line.size(); ++i) {
      const CutText text = cut_text(pairs.source[i], *vocabularies.source, reading);
      const std::vector<int32_t> labels = classes_of(pairs.target[i], *vocabularies.target, o.label_separator);
      if (text.is_empty(reading) || labels.empty()) {
        report.drop_kept(data::Fault::empty, pairs.line[i], labels.empty() ? "label" : "text, no tokens");
        continue;
      }
      unseen += std::find(labels.begin(), labels.end(), -1) == labels.end() ? 0 : 1;
      texts->add({.source = text.source(), .labels = labels, .line = pairs.line[i]});
      if (kept_pairs) kept_pairs->add(pairs.source[i], pairs.target[i], pairs.line[i]);
    }
    return texts;
  };
  data::Pairs kept;  // of the validation
  auto train = cut(pairs_.train, pairs_.reports[0], nullptr);
  auto valid = cut(pairs_.valid, validation_report_of(pairs_, o), &kept);
  if (o.class_weights != "none") weigh_classes(*train, o.class_weights, *vocabularies.target);
  corpus.references = data::separate_references(std::move(kept));
  corpus.fingerprint = fingerprint_of_texts(*train, *valid);
  corpus.train = std::move(train);
  corpus.valid = std::move(valid);
  check_and_warn(corpus, pairs_, o);
  if (unseen > 0)
    corpus.warnings.push_back(
        fmt::format("{} text{} of the validation {} a label that the training never saw: counted as wrong", unseen,
                    unseen == 1 ? "" : "s", unseen == 1 ? "has" : "have"));
  pairs_ = {};
  return corpus;
}

}  // namespace heed::task
