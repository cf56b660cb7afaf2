#include "heed/task/language_model/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/sha256.h"
#include "heed/model/decode/text_decoder.h"
#include "heed/task/language_model/language_model.h"
#include "heed/task/language_model/text_pieces.h"
#include "heed/task/language_model/text_windows.h"
#include "heed/task/seq2seq/suggestions.h"
#include "heed/task/shared_keys.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

constexpr int64_t kLearnedFrom = int64_t{64}
                                 << 20;  // bytes of lines, drawn from the text, that a vocabulary is learned from
constexpr double kShare = 0.1;           // held out, but not more characters than
constexpr double kEnough = 2e6;

void expect_file(const std::filesystem::path& file) {
  std::error_code ignored;
  expect(!std::filesystem::exists(file, ignored) || std::filesystem::is_regular_file(file, ignored), ErrorKind::data,
         "'{}' is not a plain file: a text is read several times, so it cannot be a pipe or a folder", file.string());
}

}  // namespace

void add_text_keys(file::Fields& f, data::Options& d) {
  add_folder_keys(f, d);
  f.add("data.text", d.train.source, "file with the text; plain or gzip, of any size");
  f.add("data.valid_text", d.valid.source, "file with text to validate on");
  f.add("data.documents", d.documents,
        "what is read without knowing the rest: the whole file, what stands between blank lines, or each line",
        file::Limit::one_of(heed::words_of(kDocuments)));
  f.add("data.held_out", d.held_out,
        "without data.valid_text: share of the text (of a file its end) held out for validation; 0: a tenth, at most "
        "two million characters",
        file::Limit::between(0, 0.5));
}

RunningTextCorpus::RunningTextCorpus(const data::Options& options, uint64_t seed)
    : options_(options), documents_(value_of(kDocuments, options.documents, "data: documents")), seed_(seed) {
  look(options.train.source);
  expect(facts_.characters > 1, ErrorKind::data, "'{}' has no text to learn from{}", options.train.source.string(),
         report_.dropped() > 0 ? ": " + report_.text() : "");
  if (options.has_validation_files()) return;
  const auto all = static_cast<double>(facts_.characters);
  held_out_ = options.held_out > 0 ? options.held_out : std::min(kShare, kEnough / all);
  // The end of a line can be held out, but not of a few words.
  constexpr int64_t kFewest = 100;
  const bool cuts_a_line = facts_.documents == 1 && static_cast<double>(facts_.before_last) < (1 - held_out_) * all;
  expect(!cuts_a_line || facts_.characters >= kFewest, ErrorKind::data,
         "'{}' has {} characters in {} line{}: too few to hold a part out for validation. Give it at least {}, or name "
         "a file with data.valid_text",
         options.train.source.string(), facts_.characters - 1, facts_.lines, facts_.lines == 1 ? "" : "s", kFewest);
}

void RunningTextCorpus::look(const std::filesystem::path& file) {
  expect_file(file);
  // Every line has the same chance to be in the sample, however many there are.
  text::Random random(seed_, /*stream=*/0x73616d70);
  int64_t sampled = 0;
  std::unordered_set<std::string> letters;
  for_each_line(file, documents_, report_, [&](const TextLine& line) {
    ++facts_.lines;
    facts_.before_last = facts_.characters;
    facts_.documents += line.begins ? 1 : 0;
    facts_.characters += static_cast<int64_t>(text::utf8_count(line.text)) + 1;
    text::for_each_word(line.text, [&](std::string_view) { ++facts_.words; });
    if (line.text.empty()) return;
    size_t at = sample_.size();
    if (sampled < kLearnedFrom) {
      sample_.emplace_back();
    } else {
      at = random.below(static_cast<uint64_t>(facts_.lines));
      if (at >= sample_.size()) return;
    }
    sampled += std::ssize(line.text) - std::ssize(sample_[at]);
    sample_[at] = line.text;
  });
  constexpr size_t kLooked = 20'000;
  for (size_t i = 0; i < std::min(kLooked, sample_.size()); ++i)
    for (const std::string_view letter : text::CodePoints(sample_[i])) letters.emplace(letter);
  facts_.letters = std::ssize(letters);
}

bool RunningTextCorpus::is_held_out(const TextLine& line, int64_t characters_before) const {
  if (held_out_ == 0) return false;
  // Of one text its end; of many documents those that were drawn, and always the first that could be.
  if (facts_.documents == 1)
    return static_cast<double>(characters_before) >= (1 - held_out_) * static_cast<double>(facts_.characters);
  constexpr uint64_t kOf = 1'000'000;
  if (line.document == 0) return false;
  return line.document == 1 || text::Random(seed_, static_cast<uint64_t>(line.document)).below(kOf) <
                                   static_cast<uint64_t>(held_out_ * static_cast<double>(kOf));
}

size_t RunningTextCorpus::kept_of(std::string_view line) const {
  const double end = std::floor((1 - held_out_) * static_cast<double>(facts_.characters));
  const auto most = static_cast<size_t>(std::max(1.0, end - static_cast<double>(facts_.before_last)));
  size_t bytes = 0, count = 0, after_blank = 0;
  for (const std::string_view letter : text::CodePoints(line)) {
    if (count++ == most) break;
    bytes += letter.size();
    if (letter == " ") after_blank = bytes;
  }
  // Not inside a word, if one ends in the last tenth of what is kept.
  return after_blank > 0 && static_cast<double>(after_blank) >= 0.9 * static_cast<double>(bytes) ? after_blank : bytes;
}

Vocabularies RunningTextCorpus::learn_vocabularies(const data::Options& options, const Vocabularies* known) const {
  const std::vector<std::string_view> lines(sample_.begin(), sample_.end());
  Vocabularies v;
  v.source = known ? text::Tokeniser::grown(known->source, lines, options.source)
                   : text::Tokeniser::train(lines, options.source);
  v.target = v.source;
  return v;
}

Corpus RunningTextCorpus::encode(const Vocabularies& vocabularies, const data::Options& options,
                                 const model::Options& model) {
  sample_ = {};
  TextEncoder train(*vocabularies.source), valid(*vocabularies.source);
  int64_t before = 0;
  bool first_of_valid = true;
  int64_t last_document = -1;
  data::Report report;
  for_each_line(options.train.source, documents_, report, [&](const TextLine& line) {
    const bool held_out = is_held_out(line, before);
    // If no line is: the end of the last one is.
    if (held_out_ > 0 && facts_.documents == 1 && !held_out && before == facts_.before_last) {
      const size_t kept = kept_of(line.text);
      train.add(line.text.substr(0, kept), line.begins);
      return valid.add(line.text.substr(kept), true);
    }
    before += static_cast<int64_t>(text::utf8_count(line.text)) + 1;
    if (!held_out) return train.add(line.text, line.begins);
    valid.add(line.text, line.begins || first_of_valid || line.document != last_document);
    first_of_valid = false;
    last_document = line.document;
  });
  if (options.has_validation_files()) {
    expect_file(options.valid.source);
    for_each_line(options.valid.source, documents_, report,
                  [&](const TextLine& line) { valid.add(line.text, line.begins); });
  }
  Corpus corpus;
  file::Sha256 hash;
  const auto finish = [&](TextEncoder& text, const std::string& what) {
    std::shared_ptr<const TokenStore> tokens = text.finish();
    expect(tokens->size() > 2, ErrorKind::data, "there is no text for {}: '{}' is too short", what,
           options.train.source.string());
    hash.add(std::as_bytes(tokens->ids()));
    return tokens;
  };
  const EncodedText trained = {finish(train, "training"), train.characters()},
                    validated = {finish(valid, "validation"), valid.characters()};
  make_examples(corpus, trained, validated, options, model);
  corpus.fingerprint += hash.hex();
  if (report.dropped() > 0) corpus.warnings.push_back(report.text());
  if (valid.unknown() > 0)
    corpus.warnings.push_back(fmt::format(
        "{} tokens of the validation text are not in the vocabulary: each counts as one unknown token, which "
        "makes bits per character look better than they are",
        valid.unknown()));
  return corpus;
}

std::string RunningTextCorpus::validation_report() const { return report_.dropped() > 0 ? report_.text() : ""; }

// ---------------------------------------------------------------------------------------------- the next token

std::vector<Suggestion> RawTextCorpus::suggest(const OpenKeys& open, const data::Options& data,
                                               const model::Options& model) const {
  std::vector<Suggestion> all;
  const auto is_open = [&](const char* key) { return open.count(key) > 0; };
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (is_open(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  // Characters leave no word unknown; where there is much text, pieces of words see further.
  constexpr int64_t kMuch = 20'000'000;
  constexpr int64_t kManyLetters = 1000;
  const bool characters = facts().characters < kMuch && facts().letters < kManyLetters;
  say("data.text_tokens", characters ? "characters" : "sentencepiece",
      fmt::format("{} characters, {} different ones", facts().characters, facts().letters));
  const bool pieces = is_open("data.text_tokens") ? !characters : data.source.kind == "sentencepiece";
  if (pieces) say("data.text_size", facts().words < 5'000'000 ? "4000" : "8000");

  const bool transformer = is_open("model.kind") || decode::find_text_decoder(model.kind).self_attention;
  say("model.kind", decode::transformer_text_decoder.name);
  const bool small = facts().characters < 3'000'000;
  const int64_t width = is_open("model.width") ? (small ? 192 : 256) : model.width;
  say("model.width", fmt::format("{}", width), fmt::format("for {} characters", facts().characters));
  if (transformer) {
    say("model.layers", "4");
    say("model.norm", "pre", "more stable training");
    say("model.positions", "rotary");
    if (is_untouched(model.attention)) {
      say("attention.score", "scaled_dot");
      say("attention.heads", width % 4 == 0 ? "4" : "1");
    }
  } else if (!decode::find_text_decoder(model.kind).reads_windows && model.look_back == "attention" &&
             is_untouched(model.attention)) {
    say("attention.structure", "key_value", "each state looks back at those before it");
    say("attention.window", "10");
  }
  say("model.context", transformer && !pieces ? "256" : "128");
  const int64_t context = is_open("model.context") ? (transformer && !pieces ? 256 : 128) : model.context;
  say("train.batch_tokens", fmt::format("{}", std::max<int64_t>(context, transformer ? 4096 : 2048)));
  say("train.learning_rate", transformer ? "0.002" : "0.003");
  say("train.label_smoothing", "0");
  return all;
}

void RawTextCorpus::make_examples(Corpus& corpus, const EncodedText& train, const EncodedText& valid,
                                  const data::Options&, const model::Options& model) const {
  const bool carried = !decode::find_text_decoder(model.decoder_kind()).reads_windows;
  corpus.train = std::make_unique<TextPieces>(train.tokens, train.characters,
                                              PieceOptions{.length = model.context, .carried = carried});
  corpus.valid = std::make_unique<TextWindows>(valid.tokens, valid.characters, text_windows(model));
}

}  // namespace heed::task
