#include "heed/task/speech/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/data/labelled_folder.h"
#include "heed/data/lines.h"
#include "heed/data/plain_files.h"
#include "heed/data/sound_source.h"
#include "heed/task/speech/speech_options.h"
#include "heed/text/words.h"

namespace heed::task {

std::string looks_like_speech(const std::filesystem::path& file) {
  if (data::is_labelled_folder(file)) {
    data::Report ignored;
    const data::Pairs pairs = data::read_labelled_folder(file, ignored);
    const auto sounds = std::count_if(pairs.source.begin(), pairs.source.end(), data::names_sound);
    return 2 * sounds > pairs.size() ? fmt::format("a folder of {} recordings", sounds) : "";
  }
  constexpr int64_t kLooked = 100;
  data::LineReader lines(file);
  int64_t sounds = 0;
  for (std::string line; lines.number() < kLooked && lines.next(line);) {
    const std::vector<std::string_view> columns = data::columns_of(line);
    if (columns.size() >= 2 && data::names_sound(columns.front())) ++sounds;
  }
  // A line of names above the columns, or an odd one, changes nothing.
  return sounds > 0 && 10 * sounds >= 9 * (lines.number() - 1) ? "column 1 names recordings" : "";
}

RawSpeechCorpus::RawSpeechCorpus(const data::Options& options, uint64_t seed) : pairs_(load_pairs(options, seed)) {}

namespace {

/// What most of the recordings have, as far as some of them tell; 0: none could be read, or all are .npy files.
int64_t usual_rate(const data::Pairs& pairs) {
  constexpr int64_t kLooked = 20;
  std::map<int64_t, int64_t> counts;
  const int64_t step = std::max<int64_t>(1, pairs.size() / kLooked);
  for (int64_t i = 0; i < pairs.size(); i += step) {
    try {
      ++counts[sound::rate_of_named(pairs.source[static_cast<size_t>(i)])];
    } catch (const Error&) {  // it is reported when it is read for good
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

struct WordFacts {
  int64_t words = 0, different = 0;
  bool labels = false;  // few different answers, each given often
};
WordFacts facts_of_words(const std::vector<std::string>& texts) {
  constexpr int64_t kOften = 10;
  WordFacts facts;
  std::set<std::string_view> words;
  for (const std::string& text : texts)
    text::for_each_word(text, [&](std::string_view word) {
      ++facts.words;
      words.insert(word);
    });
  facts.different = std::ssize(words);
  const std::set<std::string_view> answers(texts.begin(), texts.end());
  facts.labels = std::ssize(answers) * kOften <= std::ssize(texts);
  return facts;
}

}  // namespace

std::vector<Suggestion> RawSpeechCorpus::suggest(const OpenKeys& open, const data::Options&,
                                                 const model::Options& model) const {
  std::vector<Suggestion> all;
  const auto say = [&](const char* key, std::string value, std::string why = "") {
    if (open.count(key)) all.push_back({key, std::move(value), std::move(why)});
  };
  constexpr int64_t kTelephone = 8000, kEnough = 16'000;  // samples of a second
  int64_t rate = speech_options(model).sample_rate;
  if (open.count("model.sample_rate")) {
    if (const int64_t usual = usual_rate(pairs_.train); usual > 0) rate = std::min(usual, kEnough);
    say("model.sample_rate", fmt::format("{}", rate), "that of the recordings, or enough for speech");
  }
  say("model.bands", rate <= kTelephone ? "40" : "80", fmt::format("for {} samples of a second", rate));
  const WordFacts words = facts_of_words(pairs_.train.target);
  constexpr int64_t kSeenOften = 20;
  const char* tokens = words.labels ? "lines" : words.words >= kSeenOften * words.different ? "words" : "characters";
  say("data.target_tokens", tokens,
      words.labels ? "few different answers" : fmt::format("{} different words of {}", words.different, words.words));
  if (is_untouched(model.attention)) say("attention.score", "additive");
  say("model.width", "128");
  say("model.dropout", "0.2");
  say("model.time_masks", "2");
  say("model.band_masks", "2");
  say("model.band_shift", "2");
  say("model.stretch", "0.15");
  say("train.batch_tokens", "1024");
  say("train.learning_rate", "0.002");
  say("validate.decode", "500");
  say("validate.metric", words.labels ? "accuracy" : "wer");
  return all;
}

Vocabularies RawSpeechCorpus::learn_vocabularies(const data::Options& options, const Vocabularies* known) const {
  // A recording has no tokens of its own.
  return task::learn_vocabularies(Sentences(1, ""), data::sentences(pairs_.train, data::Side::target), options, known);
}

namespace {

data::Examples read_recordings(const data::Pairs& pairs, const Vocabularies& vocabularies, const SpeechOptions& o,
                               data::Report& report, data::Pairs* kept) {
  const sound::FrameReader reader(frame_options(o));
  data::Examples examples(0, o.bands << o.convolutions);
  constexpr int64_t kBetween = 64;  // recordings from one look at the memory to the next
  for (size_t i = 0; i < pairs.line.size(); ++i) {
    stop_if_interrupted();
    if (i % kBetween == 0 && i > 0) {
      const double bytes =
          static_cast<double>(sizeof(float)) * static_cast<double>(examples.source.numbers.values().size());
      const auto left = static_cast<double>(pairs.line.size() - i);
      expect_memory(bytes / static_cast<double>(i) * left,
                    fmt::format("the frames of {} recordings", pairs.line.size()),
                    "fewer model.bands or a longer model.hop_ms need less");
    }
    const std::vector<int32_t> words = vocabularies.target->encode(pairs.target[i]);
    if (words.empty()) {
      report.drop_kept(data::Fault::empty, pairs.line[i], "text, no tokens");
      continue;
    }
    try {
      examples.source.add({.numbers = reader.read(pairs.source[i]).values});
    } catch (const Error& error) {
      report.drop_kept(data::Fault::sound, pairs.line[i], error.what());
      continue;
    }
    examples.target.add(words);
    examples.line.push_back(pairs.line[i]);
    if (kept) kept->add(pairs.source[i], pairs.target[i], pairs.line[i]);
  }
  return examples;
}

}  // namespace

Corpus RawSpeechCorpus::encode(const Vocabularies& vocabularies, const data::Options& o, const model::Options& model) {
  const SpeechOptions& speech = speech_options(model);
  Corpus corpus;
  data::Pairs kept;
  auto train =
      std::make_unique<data::Examples>(read_recordings(pairs_.train, vocabularies, speech, pairs_.reports[0], nullptr));
  auto valid = std::make_unique<data::Examples>(
      read_recordings(pairs_.valid, vocabularies, speech, validation_report_of(pairs_, o), &kept));
  corpus.references = data::group_references(kept);
  corpus.fingerprint = fingerprint_of(*train, *valid);
  corpus.train = std::move(train);
  corpus.valid = std::move(valid);
  check_and_warn(corpus, pairs_, o);
  pairs_ = {};
  return corpus;
}

}  // namespace heed::task
