// Speech to text: lines of a recording and what is said in it.
#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/model/choices.h"
#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/task/all.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/speech/answers.h"
#include "heed/task/speech/speech_model.h"
#include "heed/task/speech/speech_options.h"
#include "heed/task/speech/texts.h"
#include "heed/task/stack_facts.h"
#include "heed/text/metric/all.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

/// Of a text, or of one of a few answers.
std::vector<std::string> kinds_of_words() {
  std::vector<std::string> kinds = text::Tokeniser::kinds_to_write();
  kinds.emplace_back("lines");
  return kinds;
}

class SpeechTask final : public Task {
 public:
  SpeechTask() : Task("speech", "", "what is said in a recording: lines of a sound file and its text") {}

  const char* example_word() const override { return "recording"; }
  SourceKind sources() const override { return SourceKind::sound; }
  LineParts parts_of(std::string_view line) const override { return {.sound = line}; }

  const char* learns() const override { return "what is said in recordings"; }
  std::string recognises(const std::filesystem::path& file) const override { return looks_like_speech(file); }

  void set_defaults(data::Options& d, model::Options&) const override {
    d.train.picture_column = 1;
    d.train.source_column = 0;  // nothing goes with a recording
    d.train.target_column = 2;
    d.source.kind = "words";
    d.target.kind = "words";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What is learned: recordings and what is said in them.");
    add_folder_keys(f, d);
    f.add("data.tsv", d.train.tsv,
          "file with a sound file (WAV, FLAC, or frames in .npy; relative to this file), a tab and its text on each "
          "line; "
          "or a folder of sound files named after their labels: LABEL_*.wav or LABEL/*.wav");
    f.add("data.sound_column", d.train.picture_column, "column of the sound files, from 1",
          Limit::between(1, kMostColumns));
    f.add("data.text_column", d.train.target_column, "column of the texts", Limit::between(1, kMostColumns));
    add_header_key(f, d);
    f.add("data.valid_tsv", d.valid.tsv, "file or folder to validate on, of the same form");
    add_held_out_key(f, d);
    add_tokeniser_keys(f, "target", kinds_of_words(), d.target);
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "kind of the encoder and the decoder",
          Limit::one_of(decode::all_decoders().names(decode::writes_by_step)));
    f.add("model.encoder", m.encoder, "kind of the encoder, if it differs",
          Limit::one_of_or_empty(encode::all_encoders().names()));
    f.add("model.decoder", m.decoder, "kind of the decoder, if it differs",
          Limit::one_of_or_empty(decode::all_decoders().names(decode::writes_by_step)));
    add_size_keys(f, m);
    f.add("model.decoder_layers", m.decoder_layers, "layers of the decoder", Limit::between(1, 1000));
    f.add("model.input_feeding", m.input_feeding, "rnn: the last attentional vector is fed in with the next token");
    add_speech_keys(f, m.own.of<SpeechOptions>());
    add_stack_keys(f, m);
  }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    if (d.train.tsv.empty()) all.emplace_back("there is no data: set data.tsv");
    if (d.train.picture_column == d.train.target_column)
      all.push_back(fmt::format("data.sound_column and data.text_column are both {}", d.train.target_column));
    if (std::string wrong = size_problem("target", d.target); !wrong.empty()) all.push_back(std::move(wrong));
    for (std::string& wrong : problems_of_model(m)) all.push_back(std::move(wrong));
    return all;
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "source", {"words"}, d.source);
    add_token_keys(f, "target", kinds_of_words(), d.target);
  }
  std::vector<std::string> contradictions(const Description& d) const override { return problems_of_model(d.model); }

  std::vector<std::string> metrics() const override {
    std::vector<std::string> names = {"wer"};
    for (const metric::MetricEntry& entry : metric::all_metrics())
      if (names.front() != entry.name) names.emplace_back(entry.name);
    return names;
  }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawSpeechCorpus>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    return std::make_unique<SpeechModel>(parameters, options);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()), decode::find_decoder(model.decoder_kind()));
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return predict_speech(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_speech(asked, pairs);
  }

  AttentionPlace place_of(std::string_view attention, int64_t, const model::Options&) const override {
    using enum AttentionRows;
    if (attention.starts_with("encoder.")) return {"self-attention of the encoder", source, source};
    if (attention.ends_with(".self")) return {"self-attention of the decoder", target_in, target_in};
    return {"attention to the recording", target_out, source};
  }

 private:
  static std::vector<std::string> problems_of_model(const model::Options& m) {
    std::vector<std::string> all;
    try {
      frame_options(speech_options(m));
    } catch (const Error& error) {
      all.push_back(fmt::format("model.sample_rate, model.window_ms and model.hop_ms: {}", error.what()));
    }
    if (m.positions == "learned" && encode::find_encoder(m.encoder_kind()).needs_positions)
      all.emplace_back(
          "model.positions = \"learned\" is for tokens; recordings need sinusoidal, rotary, alibi or none");
    return all;
  }
};

}  // namespace

const Task& speech_task() {
  static const SpeechTask task;
  return task;
}

}  // namespace heed::task
