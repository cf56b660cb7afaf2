// From text to ids and back.
//
//   characters      every code point is a token (see utf8.h)
//   letters         every code point of the decomposed text (NFD): a Hangul syllable is two or three tokens, and an
//                   accent is one
//   words           tokens are separated by spaces: phones, or text that another program has split ("gro@@ ß"
//                   stays two tokens and is not joined again)
//   unicode_words   words, numbers and signs by Unicode's rules, in lower case (segments.h): only to read
//   lines           the whole line is one token: a label
//   sentencepiece   subwords that are learned from the training text (Kudo and Richardson 2018)
//   bytes           every byte of UTF-8: nothing is unknown, whatever the script
//
// And of models that other programs trained (heed/import):
//
//   scored_bpe      pieces with scores, joined best first (scored_bpe.h)
//   byte_bpe        bytes joined by a list of pairs (byte_bpe.h)
//   wordpiece       the longest pieces of each word (wordpiece.h)
//
// Decoding restores the text: characters, bytes and sentencepiece byte for byte (unless `normalisation` is set; only
// U+2581, SentencePiece's own mark for a space, becomes a space), letters composed (NFC), words with one space in
// between, unicode_words without capitals too. What is not in the vocabulary becomes kUnknown, and kUnknown becomes the
// sign ⁇.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokens.h"

namespace heed::text {

struct TokeniserOptions {
  std::string kind = "characters";         // or letters, words, sentencepiece, bytes
  int64_t size = 0;                        // most entries, including <unk>, <s>, </s>; 0: no limit, sentencepiece: 8000
  int64_t min_count = 1;                   // not sentencepiece: rarer tokens are unknown
  std::string model = "unigram";           // sentencepiece: or bpe
  double coverage = 0.9995;                // sentencepiece: share of all characters that must be known
  std::string normalisation = "identity";  // sentencepiece: or nfkc, nmt_nfkc, nfkc_cf, nmt_nfkc_cf
  int64_t max_sentences = 2'000'000;       // sentencepiece: learn from at most this many, drawn by the seed
  uint64_t seed = 0;
};

/// What a model may write besides the tokens of texts.
struct MayWrite {
  bool unknown = false;  // <unk>
  bool start = false;    // <s>, between the lines of running text
};

/// Threads: many may use it at once.
class Tokeniser {
 public:
  virtual ~Tokeniser() = default;
  Tokeniser(const Tokeniser&) = delete;
  Tokeniser& operator=(const Tokeniser&) = delete;

  /// The same sentences and options give the same tokeniser. For one vocabulary for both sides, pass the sentences of
  /// both. Throws Error if a sentence is not valid UTF-8.
  static std::shared_ptr<const Tokeniser> train(std::span<const std::string_view> sentences,
                                                const TokeniserOptions& options);

  /// `known` with the tokens of the sentences that it lacks; what it has keeps its ids. The pieces of SentencePiece
  /// cannot grow: they come back as they are, and so does what lacks nothing. `options`: min_count and size.
  static std::shared_ptr<const Tokeniser> grown(const std::shared_ptr<const Tokeniser>& known,
                                                std::span<const std::string_view> sentences,
                                                const TokeniserOptions& options);

  /// All kinds that are learned from texts.
  static std::span<const std::string> kinds();
  /// Those of models that other programs trained: they come as they are, and are not learned.
  static std::vector<std::string> kinds_of_others();
  static std::vector<std::string> kinds_to_read();   // of texts: all but lines
  static std::vector<std::string> kinds_to_write();  // those that restore the text

  /// Without <s> and </s>. Throws Error if the text is not valid UTF-8.
  std::vector<int32_t> encode(std::string_view text) const;

  /// Where something is missing from a text: the sign for it, in texts that people write.
  static constexpr std::string_view kGapSign = "[MASK]";
  /// As encode(), where every kGapSign gives `gap` instead of tokens. Where a blank belongs to the token behind it, it
  /// belongs to the gap behind it, too.
  std::vector<int32_t> encode_with_gaps(std::string_view text, int32_t gap) const;
  /// The text with a token in the place of each of its gaps, as many as there are.
  std::string fill_gaps(std::string_view text, std::span<const int32_t> tokens) const;

  /// [encode(text)]: the text of each token, also of those that the vocabulary lacks. A token that is a word or starts
  /// one (words, sentencepiece) has a blank before it.
  std::vector<std::string> cut(std::string_view text) const;

  /// <s> and </s> give no text. Throws Error if there is no such id. `for_unknown`: a text, as from cut(), for each
  /// kUnknown in turn; an empty or missing one gives the sign.
  std::string decode(std::span<const int32_t> ids, std::span<const std::string> for_unknown = {}) const;

  /// Ids that no output of a model may hold, rising: <unk> and <s> unless they are allowed, and whatever no text is cut
  /// into, so that no target has it. Not </s>, which ends an output.
  std::vector<int32_t> never_written(const MayWrite& allowed = {}) const;

  virtual int32_t size() const = 0;

  /// How the vocabulary spells one token, for alignments: a piece of SentencePiece shows its space as U+2581.
  virtual std::string token(int32_t id) const = 0;

  virtual const std::string& kind() const = 0;

  /// A newline is cut and written like other characters: lines need no <s> between them.
  virtual bool holds_line_ends() const { return false; }

  /// The whole tokeniser as bytes, and back: `name` is for the messages.
  virtual std::string contents() const = 0;
  static std::shared_ptr<const Tokeniser> parse(std::string_view kind, std::string_view contents,
                                                std::string_view name);

  /// As one file, <prefix>.characters.txt, <prefix>.words.txt (see vocabulary.h) or <prefix>.sentencepiece.model (which
  /// SentencePiece's own programs read). A file of another kind with the same prefix is removed.
  void save(const std::filesystem::path& prefix) const;
  static std::shared_ptr<const Tokeniser> load(const std::filesystem::path& prefix);

 protected:
  Tokeniser() = default;
  /// Besides <s> and </s>, the ids that no text is cut into, rising.
  virtual std::vector<int32_t> never_cut() const { return {}; }
  virtual std::vector<int32_t> encode_valid(std::string_view text) const = 0;  // valid UTF-8
  /// A text with gaps, cut at them: one part more than there are gaps.
  virtual std::vector<int32_t> encode_parts(std::span<const std::string_view> parts, int32_t gap) const;
  /// Whether a blank in a text belongs to the token behind it.
  virtual bool holds_blank_before() const { return false; }
  /// The text of one token, where holds_blank_before() with its blank.
  virtual std::string piece_text(int32_t id) const { return decode(std::span(&id, 1)); }
  virtual std::vector<std::string> cut_valid(std::string_view text) const = 0;  // the same
  /// Ids that exist, no <s>, no </s>. `unknown`: for each kUnknown a text, which may be empty.
  virtual std::string decode_valid(std::span<const int32_t> ids, std::span<const std::string> unknown) const = 0;
};

}  // namespace heed::text
