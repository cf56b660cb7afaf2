#include "heed/task/seq2seq/suggestions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::task {

namespace {

constexpr int64_t kLooked = 100'000;  // pairs

// Lines up to this length are split into characters: then no spelling is unknown, and the sequences are still short
// enough. A sentence has twice as many.
constexpr double kShortLine = 48;
// Words are the tokens if there are few different ones and each occurs often: phones, tags, commands.
constexpr int64_t kFewWords = 500;
constexpr int64_t kSeenOften = 20;

class SideReader {
 public:
  void add(std::string_view line) {
    ++lines_;
    for (const std::string_view character : text::CodePoints(line)) {
      ++characters_;
      letters_.insert(std::string(character));
    }
    text::for_each_word(line, [&](std::string_view word) {
      ++facts_.all_words;
      words_.insert(word);
    });
  }

  SideFacts facts() const {
    SideFacts f = facts_;
    const auto lines = static_cast<double>(std::max<int64_t>(lines_, 1));
    f.characters = static_cast<double>(characters_) / lines;
    f.words = static_cast<double>(f.all_words) / lines;
    f.distinct_words = std::ssize(words_);
    return f;
  }
  const std::unordered_set<std::string>& letters() const { return letters_; }

 private:
  SideFacts facts_;
  int64_t lines_ = 0, characters_ = 0;
  std::unordered_set<std::string> letters_;
  std::unordered_set<std::string_view> words_;  // views into the pairs
};

// -------------------------------------------------------------------------------------------------------------- tokens

struct Tokens {
  std::string kind, why;
};

Tokens tokens_for(const SideFacts& f) {
  const bool closed = f.distinct_words <= kFewWords && f.all_words >= kSeenOften * f.distinct_words && f.words >= 2;
  if (closed) return {"words", fmt::format("only {} different words, which occur often", f.distinct_words)};
  if (f.characters <= kShortLine) return {"characters", fmt::format("short lines of {:.0f} characters", f.characters)};
  return {"sentencepiece", fmt::format("sentences of {:.0f} words", f.words)};
}

/// As many pieces as occur often enough to be learned.
int64_t pieces_for(int64_t words) {
  if (words < 20'000) return 1000;
  if (words < 100'000) return 2000;
  if (words < 250'000) return 4000;
  if (words < 5'000'000) return 8000;
  return 16'000;
}

/// Roughly, for a line and its end token.
double tokens_of_a_line(const SideFacts& f, const std::string& kind) {
  constexpr double kPiecesOfAWord = 1.4;
  if (kind == "words") return f.words + 1;
  return (kind == "sentencepiece" ? kPiecesOfAWord * f.words : f.characters) + 1;
}

// --------------------------------------------------------------------------------------------------------------- model

struct Size {
  int64_t width, layers;
};

Size size_for(bool transformer, int64_t pairs) {
  if (transformer) return pairs < 100'000 ? Size{128, 3} : Size{256, 4};
  return pairs < 20'000 ? Size{128, 1} : Size{256, 1};
}

/// A power of two: small enough for at least `kUpdates` updates per epoch, large enough to be worth the overhead.
int64_t batch_for(double tokens) {
  constexpr double kUpdates = 50;
  const auto most = static_cast<uint64_t>(std::clamp(tokens / kUpdates, 256.0, 4096.0));
  return static_cast<int64_t>(std::bit_floor(most));
}

struct Rare {
  double words = 0, copied = 0;
};

/// Names, numbers, terms: if targets take them from their sources, a model should be able to copy.
Rare rare_words(const data::Pairs& pairs, size_t count) {
  constexpr int64_t kRare = 3;  // times in all targets
  std::unordered_map<std::string_view, int64_t> seen;
  int64_t all = 0, rare = 0, copied = 0;
  for (size_t i = 0; i < count; ++i)
    text::for_each_word(pairs.target[i], [&](std::string_view word) { ++all, ++seen[word]; });
  for (size_t i = 0; i < count; ++i) {
    std::unordered_set<std::string_view> of_source;
    text::for_each_word(pairs.target[i], [&](std::string_view word) {
      if (seen[word] > kRare) return;
      if (of_source.empty())
        text::for_each_word(pairs.source[i], [&](std::string_view each) { of_source.insert(each); });
      ++rare;
      copied += of_source.contains(word) ? 1 : 0;
    });
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  return {share(rare, all), share(copied, rare)};
}

}  // namespace

PairFacts facts_of(const data::Pairs& pairs) {
  SideReader source, target;
  const auto count = static_cast<size_t>(std::min(pairs.size(), kLooked));
  for (size_t i = 0; i < count; ++i) {
    source.add(pairs.source[i]);
    target.add(pairs.target[i]);
  }
  const auto shared = std::count_if(source.letters().begin(), source.letters().end(),
                                    [&](const std::string& each) { return target.letters().contains(each); });
  const Rare rare = rare_words(pairs, count);
  const auto all = std::ssize(source.letters()) + std::ssize(target.letters()) - shared;
  return {.pairs = pairs.size(),
          .source = source.facts(),
          .target = target.facts(),
          .shared_letters = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(all, 1)),
          .rare_words = rare.words,
          .rare_copied = rare.copied};
}

std::vector<Suggestion> suggest(const PairFacts& facts, const OpenKeys& open, const data::Options& data,
                                const model::Options& model) {
  std::vector<Suggestion> all;
  const auto is_open = [&](const char* key) { return open.count(key) > 0; };
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (is_open(key)) all.push_back({key, std::move(value), std::move(why)});
  };

  // ------------------------------------------------------------------------------------------------------------ tokens
  const Tokens source_tokens = is_open("data.source_tokens") ? tokens_for(facts.source) : Tokens{data.source.kind, ""};
  const Tokens target_tokens = is_open("data.target_tokens") ? tokens_for(facts.target) : Tokens{data.target.kind, ""};
  const bool pieces = source_tokens.kind == "sentencepiece" && target_tokens.kind == "sentencepiece";
  constexpr double kOneScript = 0.5;
  const bool joint = is_open("data.joint") ? pieces && facts.shared_letters > kOneScript : data.joint;
  say("data.source_tokens", source_tokens.kind, source_tokens.why);
  if (!joint) say("data.target_tokens", target_tokens.kind, target_tokens.why);
  if (pieces) say("data.joint", joint ? "true" : "false", joint ? "both sides use the same letters" : "");
  const int64_t words = facts.source.all_words + (joint ? facts.target.all_words : 0);
  if (source_tokens.kind == "sentencepiece") say("data.source_size", fmt::format("{}", pieces_for(words)));
  if (target_tokens.kind == "sentencepiece" && !joint)
    say("data.target_size", fmt::format("{}", pieces_for(facts.target.all_words)));

  // ------------------------------------------------------------------------------------------------------------- model
  // A recurrent network learns nearly monotone tasks from few pairs; a Transformer needs more data, but then is better.
  constexpr int64_t kEnough = 10'000;
  const bool mixed = !model.encoder.empty() || !model.decoder.empty();
  const bool chosen = is_open("model.kind") && !mixed;
  const bool transformer = chosen ? pieces && facts.pairs >= kEnough
                                  : encode::find_encoder(model.encoder_kind()).self_attention ||
                                        decode::find_decoder(model.decoder_kind()).self_attention;
  const Size size = size_for(transformer, facts.pairs);
  const int64_t width = is_open("model.width") ? size.width : model.width;
  if (chosen)
    say("model.kind", transformer ? decode::transformer_decoder.name : decode::recurrent_decoder.name,
        transformer ? fmt::format("{} pairs of sentences", facts.pairs) : "learns fast from few pairs");
  say("model.width", fmt::format("{}", width), fmt::format("for {} pairs", facts.pairs));
  if (transformer) {
    say("model.encoder_layers", fmt::format("{}", size.layers));
    say("model.decoder_layers", fmt::format("{}", size.layers));
    say("model.norm", "pre", "more stable training");
  }
  // A pair of lines with the same rare word in both is seldom chance: names and numbers that a summary, an answer or a
  // translation takes over.
  constexpr double kOftenRare = 0.02, kOftenCopied = 0.3;
  const bool whole_words = source_tokens.kind == "words" && target_tokens.kind == "words";
  const bool copies = (joint || whole_words) && facts.rare_words > kOftenRare && facts.rare_copied > kOftenCopied &&
                      is_untouched(model.attention) && !decode::find_decoder(model.decoder_kind()).make_parallel;
  if (copies)
    say("model.copy", "true",
        fmt::format("{:.0f} % of the rare words of targets stand in their sources", 100 * facts.rare_copied));
  if (is_untouched(model.attention)) {
    say("attention.score", transformer ? "scaled_dot" : "additive");
    if (transformer) say("attention.heads", width % 4 == 0 ? "4" : "1");
  }
  if (joint) say("model.tied", "all", "one vocabulary");

  // ---------------------------------------------------------------------------------------------------------- training
  const double tokens = static_cast<double>(facts.pairs) * std::max(tokens_of_a_line(facts.source, source_tokens.kind),
                                                                    tokens_of_a_line(facts.target, target_tokens.kind));
  const int64_t batch = batch_for(tokens);
  say("train.batch_tokens", fmt::format("{}", batch), fmt::format("about {:.0f} in all", tokens));
  say("train.learning_rate", transformer ? "0.001" : "0.003");
  const bool sentences = target_tokens.kind == "sentencepiece" || facts.target.characters > kShortLine;
  say("validate.metric", sentences ? "bleu" : "exact",
      sentences ? "outputs are sentences" : "outputs are short: right or wrong");
  return all;
}

}  // namespace heed::task
