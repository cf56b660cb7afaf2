#include "heed/task/vectors/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "heed/base/sha256.h"
#include "heed/model/encode/all.h"
#include "heed/task/line_tokens.h"

namespace heed::task {

void TextCouples::add(const data::Source& both, int64_t line) {
  texts_.add(both);
  line_.push_back(line);
}

int64_t TextCouples::longest_sequence(int64_t i) const {
  return std::max(texts_.tokens.length(i), texts_.second.length(i));
}

std::vector<data::Indices> TextCouples::batches(const data::BatchOptions& options, int64_t epoch) const {
  data::Lengths lengths;
  for (int64_t i = 0; i < size(); ++i) {
    lengths.source.push_back(texts_.tokens.length(i));
    lengths.target.push_back(texts_.second.length(i));
  }
  return data::make_batches(lengths, options, epoch);
}

data::Batch TextCouples::pack(std::span<const int64_t> examples) const {
  data::Batch batch{.sources = texts_.pack(examples)};
  for (const int64_t i : examples) batch.targets.add_labels(std::vector<int32_t>{static_cast<int32_t>(i)});
  return batch;
}

std::vector<int32_t> read_tokens(std::string_view text, const text::Tokeniser& tokeniser, int64_t most, bool ends) {
  std::vector<int32_t> ids = tokeniser.encode(text);
  if (most > 0) ids.resize(std::min(ids.size(), static_cast<size_t>(std::max<int64_t>(most - (ends ? 2 : 0), 0))));
  return ends ? framed(std::move(ids)) : ids;
}

std::vector<Suggestion> RawCouples::suggest(const OpenKeys& open, const data::Options& data,
                                            const model::Options& model) const {
  std::vector<Suggestion> all;
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (open.count(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  const int64_t pairs = pairs_.train.size();
  say("data.text_tokens", "sentencepiece", fmt::format("{} pairs", pairs));
  if (open.count("data.text_tokens") || data.source.kind == "sentencepiece")
    say("data.text_size", pairs < 20'000 ? "2000" : "8000");
  say("model.kind", "rnn", "learns from fewer pairs than a Transformer");
  const bool transformer = encode::find_encoder(model.encoder_kind()).self_attention;
  say("model.width", "128");
  say("model.pool", "mean");
  say("train.batch_tokens", "4096", "the texts of a batch are told from each other");
  say("train.learning_rate", transformer ? "0.0005" : "0.002");
  say("train.label_smoothing", "0");
  return all;
}

Vocabularies RawCouples::learn_vocabularies(const data::Options& options, const Vocabularies* known) const {
  Vocabularies v = task::learn_vocabularies(pairs_.train, options, known);
  v.target = v.source;
  return v;
}

Corpus RawCouples::encode(const Vocabularies& vocabularies, const data::Options& o, const model::Options& model) {
  const text::Tokeniser& tokeniser = *vocabularies.source;
  Corpus corpus;
  file::Sha256 hash;
  const auto cut = [&](const data::Pairs& pairs, data::Report& report) {
    auto texts = std::make_unique<TextCouples>();
    for (size_t i = 0; i < pairs.line.size(); ++i) {
      const std::vector<int32_t> first = read_tokens(pairs.source[i], tokeniser, o.max_source, model.framed),
                                 second = read_tokens(pairs.target[i], tokeniser, o.max_source, model.framed);
      if (first.empty() || second.empty()) {
        report.drop_kept(data::Fault::empty, pairs.line[i], "text, no tokens");
        continue;
      }
      for (const std::vector<int32_t>* ids : {&first, &second}) hash.add(std::as_bytes(std::span(*ids)));
      texts->add({.tokens = first, .second = second}, pairs.line[i]);
    }
    return texts;
  };
  corpus.train = cut(pairs_.train, pairs_.reports[0]);
  corpus.valid = cut(pairs_.valid, validation_report_of(pairs_, o));
  corpus.fingerprint = hash.hex();
  check_and_warn(corpus, pairs_, o);
  pairs_ = {};
  return corpus;
}

}  // namespace heed::task
