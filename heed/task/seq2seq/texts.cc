#include "heed/task/seq2seq/texts.h"

#include <algorithm>
#include <memory>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/data/alignments.h"
#include "heed/data/examples.h"
#include "heed/model/encode/attention_options.h"

namespace heed::task {

namespace {

/// The links of every training example, in its tokens.
void add_alignments(data::Examples& train, const TextPairs& pairs, const Vocabularies& vocabularies,
                    const data::Options& o) {
  const data::AlignmentFile file(o.alignments);
  int64_t lines = pairs.lines;
  expect(file.lines() == lines, ErrorKind::data,
         "{} has {} lines, but the training data has {}: line n holds the links of pair n", file.path().string(),
         file.lines(), lines);
  const bool words = o.alignments_count == "words";
  size_t pair = 0;  // the examples are in the order of the pairs
  for (int64_t i = 0; i < train.size(); ++i) {
    const int64_t line = train.line_number(i);
    if (!words) {
      const auto links = file.checked(line, train.source.tokens.length(i), train.target.length(i), "tokens");
      train.links.add({links.begin(), links.end()});
      continue;
    }
    while (pairs.train.line[pair] != line) ++pair;
    const auto of = [](const text::Tokeniser& tokeniser, const std::string& text) {
      return data::words_of_tokens(tokeniser.cut(text));
    };
    const std::vector<int32_t> source = of(*vocabularies.source, pairs.train.source[pair]);
    const std::vector<int32_t> target = of(*vocabularies.target, pairs.train.target[pair]);
    const auto count = [](const std::vector<int32_t>& all) {
      return all.empty() ? 0 : int64_t{*std::max_element(all.begin(), all.end())} + 1;
    };
    train.links.add(data::points_of_tokens(file.checked(line, count(source), count(target), "words"), source, target));
  }
}

/// The pairs that were encoded.
data::Pairs kept(const data::Pairs& pairs, const data::Examples& examples) {
  data::Pairs all;
  size_t next = 0;  // the examples are in the order of the pairs
  for (size_t i = 0; i < pairs.line.size() && next < examples.line.size(); ++i)
    if (pairs.line[i] == examples.line[next]) {
      all.add(pairs.source[i], pairs.target[i], pairs.line[i]);
      ++next;
    }
  return all;
}

}  // namespace

bool reads_sentences(const model::Options& o) {
  const attend::Options to_source = encode::chosen(o.attention, o.places, encode::kSourcePlace, 0).options;
  return attend::resolve(attend::canonical(to_source)).structure->weighs_sentences;
}

Corpus make_corpus(TextPairs pairs, const Vocabularies& vocabularies, const data::Options& o,
                   data::EncodeOptions encode) {
  encode.max_source = o.max_source;
  encode.max_target = o.max_target;
  expect(!encode.by_sentence || o.alignments.empty(),
         "data.alignments counts the tokens of whole lines, but attention.structure = \"hierarchical_query\" cuts them "
         "into sentences first: leave one of them out");
  auto train =
      std::make_unique<data::Examples>(data::encode_pairs(pairs.train, vocabularies.both(), encode, pairs.reports[0]));
  auto valid = std::make_unique<data::Examples>(
      data::encode_pairs(pairs.valid, vocabularies.both(), encode, validation_report_of(pairs, o)));
  if (!o.alignments.empty()) add_alignments(*train, pairs, vocabularies, o);
  Corpus corpus;
  corpus.references = data::group_references(kept(pairs.valid, *valid));
  corpus.fingerprint = fingerprint_of(*train, *valid);
  corpus.train = std::move(train);
  corpus.valid = std::move(valid);
  check_and_warn(corpus, pairs, o);
  return corpus;
}

std::string RawPairCorpus::validation_report() const { return pairs_.reports.back().text(); }

}  // namespace heed::task
