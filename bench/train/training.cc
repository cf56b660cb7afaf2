#include "training.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/weights.h"
#include "heed/task/classification/labelled_texts.h"
#include "heed/task/language_model/text_pieces.h"

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
task = "language_model"
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

/// A label for a document: GRU and attention over the words of each sentence, and over the sentences (Yang et al.
/// 2016).
constexpr const char* kLabels = R"(
[data]
tsv = "documents.tsv"
text_column = 1
label_column = 2
held_out = 0.01
[model]
task = "classification"
kind = "rnn"
width = 64
dropout = 0.3
[attention]
structure = "hierarchical"
[train]
batch_tokens = 8192
learning_rate = 0.001
schedule = "constant"
warmup = 0
label_smoothing = 0
clip = 1.0
[stop]
epochs = 1
)";

/// Made-up documents.
struct Documents {
  uint64_t fewest = 0, most = 0;       // sentences of a document, evenly
  uint64_t shortest = 0, longest = 0;  // words of a sentence, its full stop not counted
};

struct Case {
  const char* name;
  std::vector<std::string> settings;
  const char* recipe = kCommon;
  Documents documents = {};  // with kLabels
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
      {"han", {}, kLabels, {.fewest = 2, .most = 22, .shortest = 5, .longest = 35}},
      // As many words, in documents of one length and of very different ones.
      {"han_equal", {}, kLabels, {.fewest = 12, .most = 12, .shortest = 19, .longest = 19}},
      {"han_unequal", {}, kLabels, {.fewest = 1, .most = 100, .shortest = 1, .longest = 37}},
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

/// "W7 w31 w2. W9 w1." and a label that the first word gives away.
void write_documents(std::ostream& file, const Documents& how) {
  constexpr int64_t kWordsInAll = 1'000'000;
  constexpr double kWords = 20'000;
  text::Random random(1);
  for (int64_t words = 0; words < kWordsInAll;) {
    const uint64_t label = random.below(2), sentences = how.fewest + random.below(how.most - how.fewest + 1);
    for (uint64_t s = 0; s < sentences; ++s) {
      const uint64_t length = how.shortest + random.below(how.longest - how.shortest + 1);
      for (uint64_t i = 0; i < length; ++i) {
        const double uniform = static_cast<double>(random.below(1'000'000)) * 1e-6;
        const uint64_t word = s + i == 0 ? label : static_cast<uint64_t>(std::pow(kWords, uniform));
        file << (i ? " w" : "W") << word;
      }
      file << ". ";
      words += static_cast<int64_t>(length) + 1;
    }
    file << '\t' << (label ? "good" : "bad") << '\n';
  }
}

/// A file of made-up sentences or documents, for a case of running text or of labels.
class MadeUpText {
 public:
  explicit MadeUpText(const Case& for_case)
      : folder_(std::filesystem::temp_directory_path() / fmt::format("heed-bench-text-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream text(folder_ / (for_case.recipe == kText ? "train.en" : "documents.tsv"));
    if (for_case.recipe == kLabels)
      write_documents(text, for_case.documents);
    else
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
  if (chosen.recipe == kLabels || (data.empty() && chosen.recipe == kText)) made_up.emplace(chosen);
  if (!data.empty() || made_up) settings.push_back("data.folder=" + (made_up ? made_up->folder() : data).string());
  recipe_ = recipe::parse(chosen.recipe, "the benchmark's recipe", settings);
  if (chosen.recipe != kCommon) {
    const std::unique_ptr<task::RawCorpus> texts = recipe_.task().read(recipe_.data, recipe_.train.seed);
    task::Vocabularies vocabularies = texts->learn_vocabularies(recipe_.data);
    corpus_ = texts->encode(vocabularies, recipe_.data, recipe_.model);
    fresh_ = trained::make_model(recipe::describe(recipe_), std::move(vocabularies), recipe_.train.seed);
    for (const data::Indices& batch : batches())
      if (chosen.recipe == kLabels) words_.push_back(std::ssize(corpus_.train->pack(batch).sources.tokens.values()));
    return;
  }
  task::TextPairs pairs = pairs_of(recipe_, !data.empty());
  task::Vocabularies vocabularies = task::learn_vocabularies(pairs.train, recipe_.data);
  corpus_ = task::make_corpus(std::move(pairs), vocabularies, recipe_.data);
  fresh_ = trained::make_model(recipe::describe(recipe_), std::move(vocabularies), recipe_.train.seed);
}

namespace {

json arrays_of(const data::Batch& batch) {
  const data::Sources& sources = batch.sources;
  const data::Targets& targets = batch.targets;
  if (targets.in.empty()) {  // labels
    std::vector<int64_t> sentences = {0};
    for (const int32_t length : sources.sentences.values()) sentences.push_back(sentences.back() + length);
    return {{"tokens", sources.tokens.values()},
            {"sentences", sentences},
            {"texts", sources.sentences.offsets()},
            {"labels", targets.out}};
  }
  json arrays = {{"target_in", targets.in}, {"target_out", targets.out}, {"target_offsets", targets.offsets}};
  if (sources.size() == 0) return arrays;  // running text
  arrays["source"] = sources.tokens.values();
  arrays["source_offsets"] = sources.tokens.offsets();
  return arrays;
}

}  // namespace

std::vector<data::Indices> Training::batches() const {
  return corpus_.train->batches({.max_tokens = recipe_.train.batch_tokens, .seed = recipe_.train.seed}, 0);
}

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
  json written = json::array();
  for (const data::Indices& indices : batches()) {
    if (std::ssize(written) == count) break;
    written.push_back(arrays_of(corpus_.train->pack(indices)));
  }
  expect(std::ssize(written) == count, "the data makes {} batches, and {} are needed", written.size(), count);
  std::ofstream(folder / "batches.json") << written;
  file::write_safetensors(folder / "weights.safetensors", file::tensors_of(*fresh_.parameters));
}

Training::Running Training::start(float dropout) const {
  recipe::Recipe recipe = recipe_;
  recipe.model.dropout = dropout;
  Running running{trained::make_model(recipe::describe(recipe), fresh_.vocabularies, recipe.train.seed), nullptr};
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
  for (int64_t i = 0; i < updates; ++i) {
    const int64_t predictions = running.trainer->step().tokens;
    times.tokens += words_.empty() ? predictions : words_[running.batches++ % words_.size()];
  }
  times.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return times;
}

}  // namespace heed::bench
