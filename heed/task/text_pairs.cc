#include "heed/task/text_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/random.h"
#include "heed/base/sha256.h"
#include "heed/data/built_in_task.h"
#include "heed/data/lines.h"

namespace heed::task {

namespace {

/// Moves every pair whose source was drawn to the validation data, so that no source is in both: its key decides. The
/// default share is a tenth, but no more sources than are needed to tell two models apart.
void hold_out(TextPairs& pairs, double share, uint64_t seed, SourceKey key_of) {
  constexpr double kShare = 0.1, kEnough = 2000;
  std::vector<std::string> sources;
  std::unordered_set<std::string> seen;
  for (const std::string& source : pairs.train.source)
    if (std::string key(key_of(source)); seen.insert(key).second) sources.push_back(std::move(key));
  expect(sources.size() >= 2, ErrorKind::data,
         "the data has a single source, so none can be held out for validation: add data, or name validation files");
  text::Random(seed, /*stream=*/0x686f6c64).shuffle(std::span(sources));
  const auto all = static_cast<double>(sources.size());
  const double wanted = share > 0 ? share * all : std::min(kShare * all, kEnough);
  const auto count = std::clamp<int64_t>(std::llround(wanted), 1, static_cast<int64_t>(sources.size()) - 1);
  const std::unordered_set<std::string> drawn(sources.begin(), sources.begin() + count);
  data::Pairs train;
  for (size_t i = 0; i < pairs.train.source.size(); ++i) {
    data::Pairs& side = drawn.contains(std::string(key_of(pairs.train.source[i]))) ? pairs.valid : train;
    side.add(pairs.train.source[i], pairs.train.target[i], pairs.train.line[i]);
  }
  pairs.train = std::move(train);
}

}  // namespace

std::string fingerprint_of(const data::Examples& train, const data::Examples& valid) {
  file::Sha256 hash;
  for (const data::Examples* examples : {&train, &valid}) {
    hash.add(std::as_bytes(examples->source.pixels.values()));
    hash.add(std::as_bytes(examples->source.numbers.values()));
    for (const data::Sequences* side : {&examples->source.tokens, &examples->target})
      for (int64_t i = 0; i < side->size(); ++i) {
        const int64_t length = side->length(i);
        hash.add(std::as_bytes(std::span(&length, 1)));
        hash.add(std::as_bytes((*side)[i]));
      }
  }
  for (int64_t i = 0; i < train.links.size(); ++i) {
    const int64_t count = std::ssize(train.links[i]);
    hash.add(std::as_bytes(std::span(&count, 1)));
    hash.add(std::as_bytes(train.links[i]));
  }
  return hash.hex();
}

namespace {

/// For messages.
std::string name_of(const data::PairFiles& files, const data::Options& options) {
  if (options.task != "none") return "task " + options.task;
  return (files.tsv.empty() ? files.source : files.tsv).string();
}

/// "columns 1 ('17' in line 1) and 4 ('0.5' in line 1) are not used: ..." Empty: all are, or the file cannot be read
/// twice.
std::string unused_columns(const data::PairFiles& files) {
  std::error_code ignored;
  if (files.tsv.empty() || !std::filesystem::is_regular_file(files.tsv, ignored)) return "";
  data::LineReader lines(files.tsv);
  std::string line;
  if (!lines.next(line)) return "";
  const std::vector<std::string_view> columns = data::columns_of(line);
  std::vector<std::string> unused;
  for (int64_t i = 1; i <= std::ssize(columns); ++i) {
    if (i == files.source_column || i == files.target_column || i == files.second_column || i == files.picture_column)
      continue;
    const std::string_view cell = columns[static_cast<size_t>(i - 1)];
    size_t shown = std::min<size_t>(cell.size(), 30);  // bytes, up to the end of a character
    while (shown > 0 && shown < cell.size() && (static_cast<unsigned char>(cell[shown]) & 0xC0U) == 0x80U) --shown;
    unused.push_back(fmt::format("{} ('{}{}' in line 1)", i, cell.substr(0, shown), shown < cell.size() ? "…" : ""));
  }
  if (unused.empty()) return "";
  return fmt::format("{} {} not used; the keys data.*_column choose others", unused.size() == 1 ? "column" : "columns",
                     fmt::format("{} {}", fmt::join(unused, ", "), unused.size() == 1 ? "is" : "are"));
}

}  // namespace

TextPairs load_pairs(const data::Options& o, uint64_t seed, SourceKey key) {
  TextPairs pairs;
  pairs.reports.resize(2);
  if (o.task != "none") {
    const data::BuiltInTask& task = data::find_built_in_task(o.task);
    constexpr double kOfAPair = 200;  // bytes per pair: two texts and their tokens
    expect_memory(kOfAPair * static_cast<double>(o.examples + o.valid_examples),
                  fmt::format("the data (data.examples = {}, data.valid_examples = {})", o.examples, o.valid_examples));
    pairs.train = task.pairs(o.examples, seed, data::Split::train);
    pairs.valid = task.pairs(o.valid_examples, seed, data::Split::valid);
    for (int64_t i = 0; i < pairs.train.size(); ++i) pairs.reports[0].keep();
    for (int64_t i = 0; i < pairs.valid.size(); ++i) pairs.reports[1].keep();
    return pairs;
  }
  pairs.train = data::read_pairs(o.train, pairs.reports[0]);
  if (std::string unused = unused_columns(o.train); !unused.empty()) pairs.reports[0].remark(std::move(unused));
  pairs.lines = pairs.reports[0].kept() + pairs.reports[0].dropped() + pairs.reports[0].headers();
  if (o.has_validation_files()) {
    data::PairFiles valid = o.valid;
    valid.turns = o.train.turns;
    pairs.valid = data::read_pairs(valid, pairs.reports[1]);
  } else {
    hold_out(pairs, o.held_out, seed, key);
  }
  return pairs;
}

Vocabularies learn_vocabularies(const data::Pairs& pairs, const data::Options& o, const Vocabularies* known) {
  return learn_vocabularies(data::sentences(pairs, o.joint ? data::Side::both : data::Side::source),
                            data::sentences(pairs, data::Side::target), o, known);
}

Vocabularies learn_vocabularies(const Sentences& sources, const Sentences& targets, const data::Options& o,
                                const Vocabularies* known) {
  Vocabularies v;
  const auto learn = [&](const Sentences& all, const char* name, const text::TokeniserOptions& options) {
    const auto& before = known ? (&all == &targets ? known->target : known->source) : nullptr;
    if (before) return text::Tokeniser::grown(before, all, options);
    try {
      return text::Tokeniser::train(all, options);
    } catch (const Error& error) {
      throw Error(ErrorKind::data, fmt::format("data.{}_tokens = \"{}\", data.{}_size = {}: {}", name, options.kind,
                                               name, options.size, error.what()));
    }
  };
  v.source = learn(sources, "source", o.source);
  v.target = o.joint ? v.source : learn(targets, "target", o.target);
  return v;
}

namespace {

/// Pairs that are held out were counted with the training data.
bool is_apart(const data::Options& o) { return o.task != "none" || o.has_validation_files(); }

}  // namespace

data::Report& validation_report_of(TextPairs& pairs, const data::Options& o) {
  return pairs.reports[is_apart(o) ? 1 : 0];
}

void check_and_warn(Corpus& corpus, TextPairs& pairs, const data::Options& o) {
  const data::Report &of_train = pairs.reports[0], &of_valid = validation_report_of(pairs, o);
  const std::string train = name_of(o.train, o), valid = name_of(is_apart(o) ? o.valid : o.train, o);
  expect(corpus.train->size() > 0, ErrorKind::data, "{}: no line is left for training. {}", train, of_train.text());
  expect(corpus.valid->size() > 0, ErrorKind::data, "{}: no line is left for validation. {}", valid, of_valid.text());
  if (const std::string text = of_train.text(); !text.empty()) corpus.warnings.push_back(train + ": " + text);
  if (const std::string text = of_valid.text(); is_apart(o) && !text.empty())
    corpus.warnings.push_back(valid + ": " + text);
}

}  // namespace heed::task
