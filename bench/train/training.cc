#include "training.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/data/packed_pairs.h"
#include "heed/data/text_pieces.h"
#include "heed/file/safetensors.h"
#include "heed/file/weights.h"
#include "heed/tensor/error.h"
#include "heed/text/random.h"

namespace heed::bench {

namespace {

using nlohmann::json;

/// Multi30k as the published Transformer-Tiny is trained on it: one vocabulary, everything tied.
constexpr const char* kCommon = R"(
[data]
source = "train.en"
target = "train.de"
source_tokens = "words"
joint = true
held_out = 0.01
[model]
tied = "all"
dropout = 0.3
[train]
batch_tokens = 4096
learning_rate = 0.001
schedule = "constant"
warmup = 0
label_smoothing = 0.1
clip = 1.0
[stop]
epochs = 1
)";

/// A text, character by character.
constexpr const char* kText = R"(
[data]
text = "train.en"
text_tokens = "characters"
held_out = 0.01
[model]
task = "next_token"
dropout = 0.2
context = 128
[train]
batch_tokens = 2048
learning_rate = 0.001
schedule = "constant"
warmup = 0
label_smoothing = 0
clip = 1.0
[stop]
epochs = 1
)";

struct Case {
  const char* name;
  std::vector<std::string> settings;
  const char* recipe = kCommon;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"transformer_tiny",
       {"model.kind=transformer", "model.width=128", "model.hidden=256", "model.encoder_layers=4",
        "model.decoder_layers=4", "attention.heads=4"}},
      // The base size of Vaswani et al. 2017. Without a warm-up it takes a lower rate.
      {"transformer_base",
       {"model.kind=transformer", "model.width=512", "model.hidden=2048", "model.encoder_layers=6",
        "model.decoder_layers=6", "attention.heads=8", "train.learning_rate=0.0001"}},
      {"gru_additive", {"model.kind=rnn", "model.cell=gru", "model.width=256", "attention.score=additive"}},
      // Daniluk et al. 2017, and a Transformer of about that size.
      {"lstm_key_value",
       {"model.kind=rnn", "model.cell=lstm", "model.width=256", "attention.structure=key_value", "attention.window=10"},
       kText},
      {"transformer_text",
       {"model.kind=transformer", "model.width=192", "model.layers=4", "model.norm=pre", "attention.heads=4",
        "train.batch_tokens=4096"},
       kText},
  };
  return all;
}

const Case& find(std::string_view name) {
  for (const Case& c : cases())
    if (name == c.name) return c;
  throw Error(fmt::format("there is no case '{}'; there are {}", name, fmt::join(training_cases(), ", ")));
}

/// Sentences with Multi30k's lengths and number of words, which are as unevenly often as there.
data::Pairs made_up_pairs(int64_t count) {
  constexpr double kWords = 9708;
  text::Random random(1);
  const auto sentence = [&](uint64_t length) {
    std::string text;
    for (uint64_t i = 0; i < length; ++i) {
      const double uniform = static_cast<double>(random.below(1'000'000)) * 1e-6;
      text += fmt::format("{}w{}", i ? " " : "", static_cast<int64_t>(std::pow(kWords, uniform)));
    }
    return text;
  };
  data::Pairs pairs;
  for (int64_t line = 1; line <= count; ++line) {
    const uint64_t source = 4 + random.below(10) + random.below(11);
    pairs.source.push_back(sentence(source));
    pairs.target.push_back(sentence(source - 2 + random.below(5)));
    pairs.line.push_back(line);
  }
  return pairs;
}

/// A file of made-up sentences, for a case of running text.
class MadeUpText {
 public:
  MadeUpText() : folder_(std::filesystem::temp_directory_path() / fmt::format("heed-bench-text-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream text(folder_ / "train.en");
    for (const std::string& line : made_up_pairs(20'000).source) text << line << '\n';
  }
  ~MadeUpText() { std::filesystem::remove_all(folder_); }
  MadeUpText(const MadeUpText&) = delete;
  MadeUpText& operator=(const MadeUpText&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

task::TextPairs pairs_of(const recipe::Recipe& recipe, bool from_files) {
  if (from_files) return task::load_pairs(recipe.data, recipe.train.seed);
  return {made_up_pairs(29'000), made_up_pairs(100), std::vector<data::Report>(2)};
}

}  // namespace

std::vector<std::string> training_cases() {
  std::vector<std::string> names;
  for (const Case& c : cases()) names.emplace_back(c.name);
  return names;
}

Training::Training(std::string_view name, const std::filesystem::path& data) {
  const Case& chosen = find(name);
  std::vector<std::string> settings = chosen.settings;
  std::optional<MadeUpText> made_up;
  if (data.empty() && chosen.recipe == kText) made_up.emplace();
  if (!data.empty() || made_up) settings.push_back("data.folder=" + (made_up ? made_up->folder() : data).string());
  recipe_ = recipe::parse(chosen.recipe, "the benchmark's recipe", settings);
  if (chosen.recipe == kText) {
    const std::unique_ptr<task::Texts> texts = recipe_.task().read(recipe_.data, recipe_.train.seed);
    task::Vocabularies vocabularies = texts->learn_vocabularies(recipe_.data);
    corpus_ = texts->encode(vocabularies, recipe_.data, recipe_.model);
    fresh_ = trained::make_model(recipe_, std::move(vocabularies));
    return;
  }
  task::TextPairs pairs = pairs_of(recipe_, !data.empty());
  task::Vocabularies vocabularies = task::learn_vocabularies(pairs.train, recipe_.data);
  corpus_ = task::make_corpus(std::move(pairs), vocabularies, recipe_.data);
  fresh_ = trained::make_model(recipe_, std::move(vocabularies));
}

namespace {

json arrays_of(const data::PackedBatch& batch) {
  if (const auto* b = dynamic_cast<const data::PackedPairs*>(&batch))
    return {{"source", b->source},
            {"source_offsets", b->source_offsets},
            {"target_in", b->target_in},
            {"target_out", b->target_out},
            {"target_offsets", b->target_offsets}};
  const auto& b = dynamic_cast<const data::PackedPieces&>(batch);
  return {{"target_in", b.inputs}, {"target_out", b.targets}, {"target_offsets", b.pieces}};
}

}  // namespace

void Training::write(const std::filesystem::path& folder, int64_t count) const {
  const model::Options& m = recipe_.model;
  const recipe::TrainerOptions& t = recipe_.train;
  std::ofstream(folder / "options.json") << json{{"task", m.task},
                                                 {"kind", m.kind},
                                                 {"window", m.attention.window},
                                                 {"pre_norm", m.norm == "pre"},
                                                 {"width", m.width},
                                                 {"heads", m.attention.heads},
                                                 {"encoder_layers", m.encoder_layers},
                                                 {"decoder_layers", m.decoder_layers},
                                                 {"dropout", m.dropout},
                                                 {"label_smoothing", t.label_smoothing},
                                                 {"learning_rate", t.schedule.peak},
                                                 {"clip", t.clip}};
  json batches = json::array();
  for (const data::Batch& indices : corpus_.train->batches({.max_tokens = t.batch_tokens, .seed = t.seed}, 0)) {
    if (std::ssize(batches) == count) break;
    const std::unique_ptr<data::PackedBatch> packed = corpus_.train->pack(indices);
    batches.push_back(arrays_of(*packed));
  }
  expect(std::ssize(batches) == count, "the data makes {} batches, and {} are needed", batches.size(), count);
  std::ofstream(folder / "batches.json") << batches;
  file::write_safetensors(folder / "weights.safetensors", file::tensors_of(*fresh_.parameters));
}

Training::Running Training::start(float dropout) const {
  recipe::Recipe recipe = recipe_;
  recipe.model.dropout = dropout;
  Running running{trained::make_model(recipe, fresh_.vocabularies), nullptr};
  running.trainer =
      std::make_unique<train::Trainer>(*running.made.model, *running.made.parameters, *corpus_.train, recipe.train);
  return running;
}

std::vector<double> Training::first_losses(int64_t updates) const {
  const Running running = start(0.0f);
  std::vector<double> losses;
  for (int64_t i = 0; i < updates; ++i) losses.push_back(running.trainer->step().loss);
  return losses;
}

Training::Times Training::run(int threads, int64_t updates, int training) {
  omp_set_num_threads(threads);
  Running& running = running_[training];
  if (!running.trainer) running = start(recipe_.model.dropout);
  Times times;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < updates; ++i) times.tokens += running.trainer->step().tokens;
  times.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return times;
}

}  // namespace heed::bench
