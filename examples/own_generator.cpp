// Searches over models of one's own: a table of letter pairs without any network, and a small model put together from
// heed's encoder and decoder, trained here. Greedy, beam, n-best, sampling and rules work with both.
#include <heed/layer/linear.h>
#include <heed/model/decode/all.h>
#include <heed/model/embed/embed.h>
#include <heed/model/encode/all.h>
#include <heed/model/generator.h>
#include <heed/model/search/search.h>
#include <heed/tensor/ops.h>
#include <heed/train/optimise/adam.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace heed;

// Tokens: one that is never used, START, END, and the letters.
constexpr int32_t kStart = 1, kEnd = 2, kFirstLetter = 3, kTokens = kFirstLetter + 26;

std::vector<int32_t> ids_of(std::string_view text) {
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(kFirstLetter + (c - 'a'));
  return ids;
}

std::string text_of(std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) text += static_cast<char>('a' + (id - kFirstLetter));
  return text;
}

void print(const char* what, const search::Result& result) {
  std::printf("%s:", what);
  for (const search::Hypothesis& h : result.hypotheses)
    std::printf("  %s (%.2f)", text_of(h.tokens).c_str(), h.log_probability);
  std::puts("");
}

/// Writes words that look like those it was made of: the next letter follows from the last one alone. Its source is how
/// the word begins, and it keeps nothing between steps but what the search gives it.
class LetterPairs final : public model::Generator {
 public:
  explicit LetterPairs(std::span<const char* const> words) {
    for (auto& row : log_probability_) row.fill(0.01);  // everything may happen
    for (const char* word : words) {
      int32_t before = kStart;
      for (const int32_t letter : ids_of(word)) {
        log_probability_[static_cast<size_t>(before)][static_cast<size_t>(letter)] += 1.0;
        before = letter;
      }
      log_probability_[static_cast<size_t>(before)][kEnd] += 1.0;
    }
    for (auto& row : log_probability_) {
      row[0] = row[kStart] = 1e-9;
      double sum = 0.0;
      for (const double count : row) sum += count;
      for (double& x : row) x = std::log(x / sum);
    }
  }

  std::unique_ptr<decode::State> start(Tape&, const data::Sources& sources, int64_t longest) const override {
    return std::make_unique<decode::State>(sources.size(), longest);
  }

  /// Goes on after the last letter of the source.
  int32_t first_token(const data::Sources& sources, int64_t b, int32_t) const override {
    return sources[b].tokens.back();
  }

  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape, decode::Alignment*) const override {
    const Tensor logits = tape.make(std::ssize(tokens), kTokens, false);
    for (size_t row = 0; row < tokens.size(); ++row)
      std::copy_n(log_probability_[static_cast<size_t>(tokens[row])].begin(), kTokens,
                  logits.row(static_cast<int64_t>(row)));
    state.advance();
    return logits;
  }

  std::vector<int64_t> alignment_heads() const override { return {}; }  // it looks at nothing

 private:
  std::array<std::array<double, kTokens>, kTokens> log_probability_{};
};

/// The probability of a word after its first letter, straight from the generator.
bool table_is_searched() {
  constexpr std::array kWords = {"anna", "banana", "bandana", "hannah", "nathan", "savanna", "havana", "dana"};
  const LetterPairs model(kWords);
  Tape tape({.recording = false, .training = false});
  data::Sources sources;
  sources.add(ids_of("b"));
  const auto search = [&](const search::Options& options, const search::Rules* rules = nullptr) {
    search::Options all = options;
    all.start = kStart;
    all.end = kEnd;
    all.longest = 12;
    const std::array<const search::Rules*, 1> of_each = {rules};
    return search::search(
               model, tape,
               {.sources = sources, .rules = rules ? std::span(of_each) : std::span<const search::Rules* const>{}}, all)
        .front();
  };

  const search::Result greedy = search({});
  const search::Result beam = search({.beam = 8, .nbest = 4});
  const search::Result samples = search({.nbest = 4, .sample = true, .distinct = true, .seed = 7});
  search::Rules rules;
  rules.must = search::Phrases({ids_of("th")});
  const search::Result with_th = search({.beam = 8}, &rules);
  print("greedy", greedy);
  print("the four best", beam);
  print("four samples", samples);
  print("with th", with_th);
  return beam.best().log_probability >= greedy.best().log_probability && beam.hypotheses.size() == 4 &&
         samples.hypotheses.size() == 4 && text_of(with_th.best().tokens).find("th") != std::string::npos;
}

constexpr int32_t kLength = 4;
constexpr int64_t kWidth = 32;

/// A text of letters -> the same backwards. Every part is heed's; how they are joined is written here.
class Backwards final : public model::Generator {
 public:
  Backwards()
      : source_(parameters_ / "source", {.vocabulary = kTokens, .width = kWidth}),
        target_(parameters_ / "target", {.vocabulary = kTokens, .width = kWidth}),
        encoder_(encode::find_encoder("rnn").make(parameters_ / "encoder", options())),
        decoder_(decode::find_decoder("rnn").make(parameters_ / "decoder", options(), *encoder_)),
        output_(parameters_ / "output", decoder_->width(), kTokens),
        adam_(parameters_) {}

  /// One update on random words. Returns the loss per token.
  float train(std::mt19937& random) {
    constexpr int64_t kWords = 32;
    data::Sources words;
    std::vector<int32_t> given, wanted;  // by teacher forcing: START and the letters; the letters and END
    for (int64_t w = 0; w < kWords; ++w) {
      std::vector<int32_t> letters;
      for (int32_t i = 0; i < kLength; ++i) letters.push_back(kFirstLetter + static_cast<int32_t>(random() % 8));
      words.add(letters);
      std::reverse(letters.begin(), letters.end());
      given.push_back(kStart);
      given.insert(given.end(), letters.begin(), letters.end());
      wanted.insert(wanted.end(), letters.begin(), letters.end());
      wanted.push_back(kEnd);
    }
    training_.reset();
    const Packed rows = target_(training_, given, training_.even_offsets(kWords, kLength + 1));
    const Tensor states = decoder_->run(rows, encode(training_, words));
    const Tensor loss = scale(cross_entropy(output_(states), wanted), 1.0f / static_cast<float>(wanted.size()));
    training_.backward(loss);
    adam_.step(0.01f);
    return loss.item();
  }

  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override {
    return decoder_->start(encode(tape, sources), longest);
  }

  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment) const override {
    const Offsets one_each = tape.even_offsets(std::ssize(tokens), 1);
    const Packed rows = target_(tape, tokens, one_each, state.step());
    return output_(decoder_->step(rows.rows, state, alignment));
  }

  std::vector<int64_t> alignment_heads() const override { return decoder_->source_heads(); }

 private:
  static encode::StackOptions options() { return {.width = kWidth, .layers = 1, .attention = {.score = "additive"}}; }

  encode::Encoded encode(Tape& tape, const data::Sources& sources) const {
    return encoder_->run(source_(tape, sources.tokens.values(), tape.offsets(sources.tokens.offsets())));
  }

  Parameters parameters_{1};
  embed::Embed source_, target_;
  std::unique_ptr<encode::Encoder> encoder_;
  std::unique_ptr<decode::Decoder> decoder_;
  Linear output_;
  optimise::Adam adam_;
  Tape training_;
};

bool model_learns() {
  Backwards model;
  std::mt19937 random(7);
  for (int step = 1; step <= 300; ++step) {
    const float loss = model.train(random);
    if (step % 50 == 0) std::printf("update %d: loss %.3f\n", step, static_cast<double>(loss));
  }

  data::Sources sources;
  sources.add(ids_of("abcd"));
  sources.add(ids_of("head"));
  Tape tape({.recording = false, .training = false});
  const auto found =
      search::search(model, tape, {.sources = sources},
                     {.start = kStart, .end = kEnd, .longest = 10, .beam = 4, .nbest = 2, .alignment = true});
  print("abcd", found[0]);
  print("head", found[1]);
  // The first letter was written from the last one of the source.
  const std::vector<float>& first = found[0].best().alignment.front();
  return text_of(found[0].best().tokens) == "dcba" && text_of(found[1].best().tokens) == "daeh" &&
         std::max_element(first.begin(), first.end()) == first.end() - 1;
}

}  // namespace

int main() {
  const bool searched = table_is_searched(), learned = model_learns();
  return searched && learned ? 0 : 1;
}
