#include "heed/task/masked_language_model/texts.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/task/masked_language_model/masked_texts.h"

namespace heed::task {

std::vector<Suggestion> RawMaskedCorpus::suggest(const OpenKeys& open, const data::Options& data,
                                                 const model::Options& model) const {
  std::vector<Suggestion> all;
  const auto is_open = [&](const char* key) { return open.count(key) > 0; };
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (is_open(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  // Between two letters there is often only one that fits: little is learned from that. Pieces of words need meaning.
  say("data.text_tokens", "sentencepiece", fmt::format("{} words", facts().words));
  const bool pieces = is_open("data.text_tokens") || data.source.kind == "sentencepiece";
  if (pieces) say("data.text_size", facts().words < 50'000 ? "1000" : facts().words < 500'000 ? "4000" : "8000");

  const bool transformer = is_open("model.kind") || encode::find_encoder(model.encoder_kind()).self_attention;
  say("model.kind", encode::transformer_encoder.name);
  const bool small = facts().words < 1'000'000;
  const int64_t width = is_open("model.width") ? (small ? 128 : 192) : model.width;
  say("model.width", fmt::format("{}", width), fmt::format("for {} words", facts().words));
  if (transformer) {
    say("model.layers", "4");
    say("model.norm", "pre", "more stable training");
    // Rotary positions turn what a product compares.
    if (model.attention.score == attend::Options().score) say("model.positions", "rotary");
    if (is_untouched(model.attention)) {
      say("attention.score", "scaled_dot");
      say("attention.heads", width % 4 == 0 ? "4" : "1");
    }
  }
  say("model.context", "256");
  say("train.batch_tokens", facts().words < 100'000 ? "2048" : "4096");
  say("train.learning_rate", transformer ? "0.002" : "0.003");
  say("train.label_smoothing", "0");
  return all;
}

void RawMaskedCorpus::make_examples(Corpus& corpus, const EncodedText& train, const EncodedText& valid,
                                    const data::Options& o, const model::Options& model) const {
  constexpr uint64_t kOfValidation = 0x76616c6964;  // other masks than those of the first epoch
  MaskedTextOptions options{.length = model.context,
                            .masks = o.masks,
                            .vocabulary = static_cast<int32_t>(model.source_vocabulary),
                            .seed = seed(),
                            .framed = model.framed};
  corpus.train = std::make_unique<MaskedTexts>(train.tokens, options);
  options.seed ^= kOfValidation;
  options.changes = false;
  corpus.valid = std::make_unique<MaskedTexts>(valid.tokens, options);
  expect(corpus.train->size() > 0 && corpus.valid->size() > 0, ErrorKind::data,
         "'{}' has no token to mask in its texts for {}: all are unknown", o.train.source.string(),
         corpus.train->size() > 0 ? "validation" : "training");
  corpus.fingerprint = fmt::format("{}-{}-{}-", o.masks.share, o.masks.replaced, o.masks.random);
}

}  // namespace heed::task
