#include "heed/data/examples.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "heed/data/copied_words.h"
#include "heed/text/segments.h"

namespace heed::data {

std::vector<Indices> Examples::batches(const BatchOptions& options, int64_t epoch) const {
  Lengths lengths;
  for (int64_t i = 0; i < size(); ++i) {
    const int64_t numbers = numbers_of_row_ > 0 ? source.numbers.length(i) / numbers_of_row_ : 0;
    lengths.source.push_back(source.tokens.length(i) + cells_ + numbers);
    lengths.target.push_back(predictions(i));
  }
  return make_batches(lengths, options, epoch);
}

Batch Examples::pack(std::span<const int64_t> examples) const {
  Batch batch{.sources = source.pack(examples)};
  Targets& targets = batch.targets;
  for (const int64_t i : examples) targets.add_tokens(target[i]);
  if (links.size() == 0) return batch;
  targets.aligned_offsets.push_back(0);
  for (const int64_t i : examples) {
    const std::span<const AlignmentPoint> of_target = links[i];  // by target
    size_t next = 0;
    for (int64_t t = 0; t <= target.length(i); ++t) {
      for (; next < of_target.size() && of_target[next].target == t; ++next)
        targets.aligned_sources.push_back(of_target[next].source);
      targets.aligned_offsets.push_back(std::ssize(targets.aligned_sources));
    }
  }
  return batch;
}

SentenceTokens encode_sentences(std::string_view text, const text::Tokeniser& tokeniser) {
  SentenceTokens all;
  for (const std::string_view sentence : text::sentences_of(text)) {
    const std::vector<int32_t> ids = tokeniser.encode(sentence);
    if (ids.empty()) continue;
    all.tokens.insert(all.tokens.end(), ids.begin(), ids.end());
    all.lengths.push_back(static_cast<int32_t>(ids.size()));
  }
  return all;
}

Examples encode_pairs(const Pairs& pairs, const Tokenisers& tokenisers, const EncodeOptions& options, Report& report) {
  Examples examples;
  CopyReader copying(tokenisers.source, tokenisers.target);
  for (size_t i = 0; i < pairs.line.size(); ++i) {
    const int64_t line = pairs.line[i];
    SentenceTokens cut;
    if (options.by_sentence)
      cut = encode_sentences(pairs.source[i], tokenisers.source);
    else
      cut.tokens = tokenisers.source.encode(pairs.source[i]);
    const std::vector<int32_t>& source = cut.tokens;
    auto target = tokenisers.target.encode(pairs.target[i]);
    if (source.empty() || target.empty()) {
      report.drop_kept(Fault::empty, line, source.empty() ? "source, no tokens" : "target, no tokens");
      continue;
    }
    const bool long_source = options.max_source > 0 && static_cast<int64_t>(source.size()) > options.max_source;
    const bool long_target = options.max_target > 0 && static_cast<int64_t>(target.size()) > options.max_target;
    if (long_source || long_target) {
      report.drop_kept(
          Fault::too_long, line,
          fmt::format("{}, {} tokens", long_source ? "source" : "target", (long_source ? source : target).size()));
      continue;
    }
    CopiedWords copied;
    if (options.copies) {
      copied = copying.read(pairs.source[i], source);
      target = with_copied(std::move(target), pairs.target[i], tokenisers.target, copied.extra);
    }
    examples.source.add({.tokens = source, .sentences = cut.lengths, .copies = copied.ids});
    examples.target.add(target);
    examples.line.push_back(line);
  }
  return examples;
}

}  // namespace heed::data
