#include "heed/text/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/base/random.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::text {

namespace {

constexpr std::string_view kBlankMark = "\u2581";
const std::array<std::string, 2> kModels = {"unigram", "bpe"};
const std::array<std::string, 5> kNormalisations = {"identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"};

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string all;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    all.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return all.append(text);
}

class SentencePiece final : public Tokeniser {
 public:
  SentencePiece(std::string_view contents, std::string_view name) {
    expect(load(contents) && processor_.GetPieceSize() > 0, ErrorKind::file, "{}: this is not a SentencePiece model",
           name);
    for (int32_t id = 0; id < kSpecials; ++id) {
      const std::string_view special = kSpecialNames[static_cast<size_t>(id)];
      const std::string found = id < size() ? token(id) : "missing";
      expect(found == special, ErrorKind::file, "{}: piece {} must be {}, but is {}", name, id, special, found);
    }
    for (int32_t id = 0; id < size(); ++id)
      expect(find_control(token(id)) == std::string::npos, ErrorKind::file,
             "{}: piece {} holds a control character, which would break output lines", name, id);
  }

  int32_t size() const override { return processor_.GetPieceSize(); }
  const std::string& kind() const override { return kSentencePiece; }
  std::string contents() const override { return processor_.serialized_model_proto(); }

  std::string token(int32_t id) const override {
    expect(id >= 0 && id < size(), "there is no token {}: the vocabulary has {}", id, size());
    return processor_.IdToPiece(id);
  }

 protected:
  /// A model that another program made may have more of these: <pad>, for example.
  std::vector<int32_t> never_cut() const override {
    std::vector<int32_t> ids;
    for (int32_t id = kSpecials; id < size(); ++id)
      if (processor_.IsControl(id) || processor_.IsUnused(id)) ids.push_back(id);
    return ids;
  }
  std::vector<int32_t> encode_valid(std::string_view text) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode(text, &ids);
    expect(status.ok(), ErrorKind::data, "SentencePiece cannot encode '{}': {}", text, status.message());
    return {ids.begin(), ids.end()};
  }

  /// Pieces depend on what is around them, so the whole text is cut, with a sign in each gap that no text has: it is
  /// unknown, and so a piece of its own, before which a blank stands alone.
  std::vector<int32_t> encode_parts(std::span<const std::string_view> parts, int32_t gap) const override {
    constexpr std::string_view kSign = "\U0010FFFD";  // for private use
    std::string text(parts.front());
    for (const std::string_view part : parts.subspan(1)) text.append(kSign).append(part);
    const std::vector<int32_t> cut = encode_valid(text);
    if (parts.size() == 1) return cut;
    const std::vector<std::string> pieces = cut_valid(text);
    std::vector<int32_t> ids;
    for (size_t i = 0; i < cut.size(); ++i) {
      size_t at = pieces[i].find(kSign);
      if (at == std::string::npos) {
        ids.push_back(cut[i]);
        continue;
      }
      // Unknown signs in a row are one piece.
      if (at > 0 && pieces[i].substr(0, at) != " ") ids.push_back(kUnknown);
      if (at == 0 && i > 0 && pieces[i - 1] == " " && !ids.empty()) ids.pop_back();
      for (size_t next; at != std::string::npos; at = next) {
        ids.push_back(gap);
        next = pieces[i].find(kSign, at + kSign.size());
        const size_t end = std::min(next, pieces[i].size());
        if (end > at + kSign.size()) ids.push_back(kUnknown);
      }
    }
    return ids;
  }
  bool holds_blank_before() const override { return true; }
  std::string piece_text(int32_t id) const override { return replaced(token(id), kBlankMark, " "); }

  std::vector<std::string> cut_valid(std::string_view text) const override {
    std::vector<std::string> pieces;
    const auto status = processor_.Encode(text, &pieces);
    expect(status.ok(), ErrorKind::data, "SentencePiece cannot encode '{}': {}", text, status.message());
    for (std::string& piece : pieces) piece = replaced(piece, kBlankMark, " ");
    return pieces;
  }

  /// A piece that is not in the vocabulary shows as it is.
  std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const override {
    std::vector<std::string> pieces;
    size_t next = 0;
    for (const int32_t id : ids) {
      pieces.push_back(processor_.IdToPiece(id));
      if (id != kUnknown || unknown[next++].empty()) continue;
      pieces.back() = unknown[next - 1];
      pieces.back() = replaced(pieces.back(), " ", kBlankMark);
    }
    std::string text;
    const auto status = processor_.Decode(pieces, &text);
    expect(status.ok(), ErrorKind::data, "SentencePiece cannot decode: {}", status.message());
    return text;
  }

 private:
  bool load(std::string_view contents) {
    try {
      return processor_.LoadFromSerializedProto(contents).ok();
    } catch (const std::exception&) {  // from its trie of pieces: an empty piece, for example
      return false;
    }
  }

  sentencepiece::SentencePieceProcessor processor_;
};

/// Hands the chosen sentences to the trainer.
class Sentences final : public sentencepiece::SentenceIterator {
 public:
  Sentences(std::span<const std::string_view> all, std::vector<size_t> which) : all_(all), which_(std::move(which)) {
    read();
  }
  bool done() const override { return next_ >= which_.size(); }
  void Next() override {
    ++next_;
    read();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (done()) return;
    value_ = all_[which_[next_]];
    // Which no piece may hold.
    for (size_t at = find_control(value_); at != std::string::npos; at = find_control(value_, at)) {
      if (static_cast<unsigned char>(value_[at]) == 0xC2) value_.erase(at, 1);  // two bytes become one blank
      value_[at] = ' ';
    }
  }

  std::span<const std::string_view> all_;
  std::vector<size_t> which_;
  size_t next_ = 0;
  std::string value_;
};

}  // namespace

std::shared_ptr<const Tokeniser> train_sentencepiece(std::span<const std::string_view> sentences,
                                                     const TokeniserOptions& options) {
  expect_known("model of SentencePiece", options.model, kModels);
  expect_known("normalisation of SentencePiece", options.normalisation, kNormalisations);
  expect(options.coverage > 0.0 && options.coverage <= 1.0, "coverage: must be in (0, 1], but is {}", options.coverage);
  expect(options.max_sentences > 0, "max_sentences: must be at least 1, but is {}", options.max_sentences);
  const bool blank = std::all_of(sentences.begin(), sentences.end(), is_blank);
  expect(!blank, ErrorKind::data, "SentencePiece has nothing to learn from: {} sentences, all of them empty",
         sentences.size());

  const int64_t size = options.size == 0 ? 8000 : options.size;
  const std::unordered_map<std::string, std::string> settings = {
      {"model_type", options.model},
      {"vocab_size", fmt::format("{}", size)},
      {"hard_vocab_limit", "false"},  // a small corpus gets a smaller vocabulary instead of an error
      {"character_coverage", fmt::format("{}", options.coverage)},
      {"unk_id", fmt::format("{}", kUnknown)},
      {"bos_id", fmt::format("{}", kStart)},
      {"eos_id", fmt::format("{}", kEnd)},
      {"pad_id", "-1"},
      {"unk_surface", std::string(kUnknownShown)},
      {"normalization_rule_name", options.normalisation},
      // Leading, trailing and repeated spaces are kept, so that decoding restores the text.
      {"remove_extra_whitespaces", options.normalisation == "identity" ? "false" : "true"},
      {"max_sentence_length", "65536"},  // bytes; what is longer is not learned from
      // The sums of the unigram model depend on the number of threads, so it must not depend on the machine.
      {"num_threads", "16"},
      {"minloglevel", "4"},  // says nothing
  };
  Sentences chosen(sentences,
                   Random(options.seed).sample(sentences.size(), static_cast<size_t>(options.max_sentences)));
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &chosen, &model);
  if (!status.ok()) {
    // The message begins with a place in SentencePiece's source: ./src/file.cc(123) [condition] text
    std::string_view reason = status.message();
    const size_t end = reason.find("] ");
    if (end != std::string_view::npos) reason.remove_prefix(end + 2);
    // Its hint names options that heed does not have: "... 10 vs 40. Increase vocab_size or ... --character_coverage
    // option."
    if (const size_t hint = reason.find(". Increase vocab_size"); hint != std::string_view::npos) {
      const size_t least = reason.rfind(' ', hint - 1);
      throw Error(ErrorKind::data,
                  fmt::format("SentencePiece cannot learn {} pieces from {} sentences: their characters alone, and "
                              "<unk>, <s> and </s>, are{}. A larger vocabulary is needed",
                              size, sentences.size(), reason.substr(least, hint - least)));
    }
    throw Error(ErrorKind::data, fmt::format("SentencePiece cannot learn {} pieces from {} sentences. {}", size,
                                             sentences.size(), reason));
  }
  return parse_sentencepiece(model, "the trained model");
}

std::shared_ptr<const Tokeniser> parse_sentencepiece(std::string_view contents, std::string_view name) {
  return std::make_shared<SentencePiece>(contents, name);
}

}  // namespace heed::text
