#include "heed/train/recipe.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "heed/attend/all.h"
#include "heed/data/built_in_task.h"
#include "heed/file/disk.h"
#include "heed/metric/all.h"
#include "heed/tensor/error.h"
#include "heed/text/utf8.h"

namespace heed::train {

namespace {

using file::Fields;
using file::Limit;

// Where a number could be any, one that no training needs is refused: it would take all memory, or never end.
constexpr double kMost = 1e12;          // updates
constexpr double kMostLines = 1e9;      // lines, pairs, epochs, minutes
constexpr double kMostTokens = 1e9;     // of a batch, a side of a pair, a window
constexpr double kMostColumns = 1e6;    // of a TSV
constexpr double kMostWidth = 1 << 20;  // of vectors
constexpr double kMostHeads = 65536;
constexpr double kLargestRate = 1000;  // of learning, weight decay

/// More than 0, and at most that.
Limit positive(double most) { return {.least = Limit::Bound{0, false}, .most = Limit::Bound{most}}; }

// -------------------------------------------------------------------------------------------------------------
// sections

void add_files(Fields& f, const std::string& prefix, PairFiles& files, const std::string& what,
               std::array<std::string, 3>& names) {
  f.add("data." + prefix + "source", names[0], "file with the sources of " + what + ", one a line; plain or gzip");
  f.add("data." + prefix + "target", names[1], "file with their targets, line by line");
  f.add("data." + prefix + "tsv", names[2], "or one file with both, in columns parted by tabs");
  if (!prefix.empty()) return;
  f.add("data.source_column", files.source_column, "column of the sources, in the TSV",
        Limit::between(1, kMostColumns));
  f.add("data.target_column", files.target_column, "column of the targets", Limit::between(1, kMostColumns));
  f.add("data.columns", files.columns, "every line has exactly so many; 0: any number",
        Limit::between(0, kMostColumns));
  f.add("data.max_characters", files.max_characters, "a longer side is left out, counted in characters; 0: no limit",
        Limit::between(0, kMostTokens));
}

void add_tokeniser(Fields& f, const std::string& side, TokeniserOptions& o) {
  const auto kinds = Tokeniser::kinds();
  f.add("data." + side + "_tokens", o.kind, "how the " + side + " is cut", Limit::one_of({kinds.begin(), kinds.end()}));
  f.add("data." + side + "_size", o.size, "tokens of its vocabulary at most; 0: no limit, sentencepiece: 8000",
        Limit::between(0, 1e8));
  f.add("data." + side + "_min_count", o.min_count, "characters, words: what was seen less often is unknown",
        Limit::between(1, kMostLines));
}

/// The names of files are texts in a recipe and paths in PairFiles.
struct Names {
  std::array<std::string, 3> train, valid;
};

std::vector<std::string> task_names() {
  std::vector<std::string> names = {"none"};
  for (const BuiltInTask& task : built_in_tasks()) names.push_back(task.name);
  return names;
}

void add_data(Fields& f, DataOptions& d, Names& names) {
  f.section("data", "What is learned: a built-in task, or pairs of lines from files.");
  f.add("data.task", d.task, "made up by heed; none: the data stands in files", Limit::one_of(task_names()));
  f.add("data.examples", d.examples, "task: pairs to learn from", Limit::between(1, kMostLines));
  f.add("data.valid_examples", d.valid_examples, "task: pairs to validate on", Limit::between(1, kMostLines));
  f.add("data.folder", d.folder, "folder that the names below begin in; empty: where heed is started");
  add_files(f, "", d.train, "the training", names.train);
  add_files(f, "valid_", d.valid, "the validation", names.valid);
  f.add("data.held_out", d.held_out, "without files for validation: share of the sources that is kept for it",
        Limit::between(0, 0.5));
  add_tokeniser(f, "source", d.source);
  add_tokeniser(f, "target", d.target);
  f.add("data.joint", d.joint, "one vocabulary for both sides, cut as the source");
  f.add("data.sentencepiece", d.source.model, "", Limit::one_of({"unigram", "bpe"}));
  f.add("data.max_source", d.max_source, "a pair with more tokens is left out; 0: no limit",
        Limit::between(0, kMostTokens));
  f.add("data.max_target", d.max_target, "", Limit::between(0, kMostTokens));
}

void add_model(Fields& f, model::Seq2SeqOptions& m) {
  f.section("model", "From tokens to vectors to memory to context to logits.");
  f.add("model.kind", m.kind, "", Limit::one_of({"rnn", "transformer"}));
  f.add("model.width", m.width, "of vectors and states", Limit::between(1, 65536));
  f.add("model.encoder_layers", m.encoder_layers, "", Limit::between(1, 1000));
  f.add("model.decoder_layers", m.decoder_layers, "", Limit::between(1, 1000));
  f.add("model.dropout", m.dropout, "", Limit::from_to_below(0, 1));
  f.add("model.tied", m.tied,
        "embeddings that are one: none, input and output of the decoder, or all (with data.joint)",
        Limit::one_of({"none", "decoder", "all"}));
  f.add("model.cell", m.cell, "of an rnn", Limit::one_of({"gru", "lstm"}));
  f.add("model.bidirectional", m.bidirectional, "rnn: the encoder reads both ways");
  f.add("model.input_feeding", m.input_feeding, "rnn: the last attentional vector goes in beside the next token");
  f.add("model.hidden", m.hidden, "transformer: of the feed-forward layers; 0: 4 * width", Limit::between(0, 1 << 20));
  f.add("model.activation", m.activation, "transformer: of the feed-forward layers",
        Limit::one_of({"relu", "gelu", "swish"}));
  f.add("model.norm", m.norm, "transformer: after each part, as in the paper, or before it",
        Limit::one_of({"post", "pre"}));
  f.add("model.positions", m.positions, "transformer: how it knows the order",
        Limit::one_of({"sin_cos", "learned", "rotary", "alibi", "none"}));
  f.add("model.max_length", m.max_length, "learned positions: tokens of the longest sequence",
        Limit::between(1, kLongest));
}

/// Those that follow from the model, or belong to other tasks than this one.
bool is_inside(std::string_view option) {
  for (const char* name :
       {"input", "query_width", "key_width", "value_width", "output_width", "classes", "predict", "queries"})
    if (option == name) return true;
  return false;
}

/// What a part may be called in a recipe.
std::vector<std::string> words_of(attend::Part part) {
  std::vector<std::string> words;
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != part) continue;
    words.emplace_back(entry->name);
    for (std::string& alias : attend::words(entry->aliases)) words.push_back(std::move(alias));
  }
  return words;
}

void add_attention(Fields& f, attend::Options& a) {
  f.section("attention",
            "Between decoder and encoder, and in the heads of a Transformer: `heed mechanisms` tells more.");
  attend::each_option(a, [&](const char* name, auto& value, const char* meaning) {
    if (!is_inside(name)) f.add(std::string("attention.") + name, value, meaning);
  });
  for (const attend::Part part :
       {attend::Part::structure, attend::Part::score, attend::Part::normalise, attend::Part::time})
    f.limit(std::string("attention.") + attend::name_of(part), Limit::one_of(words_of(part)));
  f.limit("attention.heads", Limit::between(1, kMostHeads));
  f.limit("attention.kv_heads", Limit::between(0, kMostHeads));
  for (const char* width : {"attention.width", "attention.hidden"}) f.limit(width, Limit::between(0, kMostWidth));
  f.limit("attention.depth", Limit::between(1, 1000));
  f.limit("attention.max_length", Limit::between(1, kLongest));
  f.limit("attention.reach", Limit::between(1, kLongest));
  f.limit("attention.samples", Limit::between(1, 1000));
  for (const char* keys : {"attention.window", "attention.sinks"}) f.limit(keys, Limit::between(0, kMostTokens));
  f.limit("attention.dropout", Limit::from_to_below(0, 1));
  f.limit("attention.baseline_decay", Limit::from_to_below(0, 1));
  f.limit("attention.entropy_weight", Limit::at_least(0));
}

void add_train(Fields& f, TrainerOptions& t) {
  f.section("train", "One update after the other.");
  f.add("train.seed", t.seed, "of the weights, the order of the batches and dropout");
  f.add("train.batch_tokens", t.batch_tokens, "of a batch, on each side", Limit::between(1, kMostTokens));
  f.add("train.accumulate", t.accumulate, "batches whose gradients make one update", Limit::between(1, 1e6));
  f.add("train.learning_rate", t.schedule.peak, "the largest, at the end of the warm-up", Limit::above(0));
  f.add("train.schedule", t.schedule.kind, "how it goes on", Limit::one_of({"constant", "inverse_sqrt", "cosine"}));
  f.add("train.warmup", t.schedule.warmup, "updates from 0 to the largest rate", Limit::between(0, kMost));
  f.add("train.final_rate", t.schedule.floor, "cosine: where it ends", Limit::between(0, kLargestRate));
  f.add("train.beta1", t.adam.beta1, "of Adam", Limit::from_to_below(0, 1));
  f.add("train.beta2", t.adam.beta2, "", Limit::from_to_below(0, 1));
  f.add("train.epsilon", t.adam.epsilon, "", positive(1));
  f.add("train.weight_decay", t.adam.decay, "above 0: AdamW", Limit::between(0, kLargestRate));
  f.add("train.clip", t.clip, "largest norm of all gradients together; 0: no limit", Limit::between(0, 1e9));
  f.add("train.label_smoothing", t.label_smoothing, "", Limit::from_to_below(0, 1));
  f.add("train.average", t.average,
        "decay of a moving average of the weights, which is then what is validated and kept; 0: none",
        Limit::from_to_below(0, 1));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names = {"loss"};
  for (const metric::MetricEntry& entry : metric::all_metrics()) names.push_back(entry.name);
  return names;
}

void add_rest(Fields& f, StopOptions& s, ValidateOptions& v, OutputOptions& o) {
  f.section("stop", "The first of these that is reached ends the training; 0: no limit.");
  f.add("stop.steps", s.steps, "updates", Limit::between(0, kMost));
  f.add("stop.epochs", s.epochs, "times through the data", Limit::between(0, kMostLines));
  f.add("stop.minutes", s.minutes, "", Limit::between(0, kMostLines));
  f.add("stop.patience", s.patience, "validations in a row without a better one", Limit::between(0, kMostLines));
  f.section("validate", "How good the model is on pairs that it does not learn from.");
  f.add("validate.every", v.every, "updates", Limit::between(1, kMost));
  f.add("validate.metric", v.metric, "what says which model is the best: loss per token, or a metric of outputs",
        Limit::one_of(metric_names()));
  f.add("validate.decode", v.decode, "sources that are decoded for metrics; 0: none, -1: all",
        Limit::between(-1, kMostLines));
  f.add("validate.longest", v.longest, "tokens of an output", Limit::between(1, kLongest));
  f.add("validate.samples", v.samples, "outputs to show", Limit::between(0, 1e6));
  f.section("output", "What is kept.");
  f.add("output.folder", o.folder, "for checkpoints and logs; --output says it too");
  f.add("output.keep_last", o.keep_last, "newest checkpoints, besides the best one", Limit::between(1, 1e6));
  f.add("output.checkpoint_minutes", o.checkpoint_minutes, "between two checkpoints at most; 0: only at validations",
        Limit::between(0, kMostLines));
  f.add("output.log_every", o.log_every, "updates between two lines of log.jsonl", Limit::between(1, kMost));
}

void add_all(Fields& f, Recipe& r, Names& names) {
  add_data(f, r.data, names);
  add_model(f, r.model);
  add_attention(f, r.model.attention);
  add_train(f, r.train);
  add_rest(f, r.stop, r.validate, r.output);
}

// --------------------------------------------------------------------------------------------------- what must fit
// together

void settle(Recipe& r, const Names& names) {
  const auto file = [&](const std::string& name) {
    return name.empty() ? std::filesystem::path() : std::filesystem::path(r.data.folder) / name;
  };
  const auto fill = [&](PairFiles& files, const std::array<std::string, 3>& from) {
    files.source = file(from[0]);
    files.target = file(from[1]);
    files.tsv = file(from[2]);
  };
  fill(r.data.train, names.train);
  r.data.valid = r.data.train;  // the same columns
  fill(r.data.valid, names.valid);
  r.data.source.seed = r.data.target.seed = r.train.seed;
  r.data.target.model = r.data.source.model;
  if (r.data.joint) r.data.target = r.data.source;
}

std::string problems(const Recipe& r, std::string_view file) {
  std::string all;
  const auto need = [&](bool condition, std::string_view what) {
    if (!condition) all += fmt::format("{}{}: {}", all.empty() ? "" : "\n", file, what);
  };
  const PairFiles& t = r.data.train;
  const bool files = !t.source.empty() || !t.target.empty() || !t.tsv.empty();
  need(files || r.data.task != "none", "there is no data: data.task, or data.source and data.target, or data.tsv");
  need(!files || r.data.task == "none", "data.task and files do not go together");
  need(!files || (t.source.empty() == t.target.empty() && t.source.empty() != t.tsv.empty()),
       "the data is either two files, data.source and data.target, or one data.tsv");
  const PairFiles& v = r.data.valid;
  const bool valid = !v.source.empty() || !v.target.empty() || !v.tsv.empty();
  need(!valid || (v.source.empty() == v.target.empty() && v.source.empty() != v.tsv.empty()),
       "the validation is either two files, data.valid_source and data.valid_target, or one data.valid_tsv");
  need(!files || valid || r.data.held_out > 0,
       "there is nothing to validate on: data.valid_source and data.valid_target, data.valid_tsv, or data.held_out "
       "above 0");
  for (const auto& [side, options] : {std::pair{"source", &r.data.source}, std::pair{"target", &r.data.target}})
    need(options->size == 0 || options->size > kSpecials,
         fmt::format("data.{}_size must be 0 (no limit) or above {}, not {}: <unk>, <s> and </s> are {} tokens", side,
                     kSpecials, options->size, kSpecials));
  need(r.model.tied != "all" || r.data.joint, "model.tied = \"all\" needs data.joint = true: one vocabulary");
  need(r.stop.steps > 0 || r.stop.epochs > 0 || r.stop.minutes > 0 || r.stop.patience > 0,
       "the training would never end: stop.steps, stop.epochs, stop.minutes or stop.patience must be above 0");
  need(r.train.schedule.kind != "cosine" || r.stop.steps > 0 || r.stop.epochs > 0,
       "train.schedule = \"cosine\" must know where it ends: stop.steps or stop.epochs must be above 0");
  need(r.validate.metric == "loss" || r.validate.decode != 0,
       "validate.metric = \"" + r.validate.metric + "\" needs outputs: validate.decode must not be 0");
  return all;
}

template <class Read>
Recipe filled(std::string_view file, const Read& read) {
  Recipe recipe;
  Names names;
  Fields fields;
  add_all(fields, recipe, names);
  try {
    read(fields);
  } catch (const Error& error) {
    throw RecipeError(error.what());
  }
  settle(recipe, names);
  recipe.file = file;
  const std::string wrong = problems(recipe, file);
  if (!wrong.empty()) throw RecipeError(wrong);
  return recipe;
}

/// The keys and values of a text() of Fields.
std::map<std::string, std::string> values_of(const std::string& toml) {
  std::map<std::string, std::string> values;
  std::istringstream lines(toml);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1);
    const size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    values[section + "." + line.substr(0, equals)] = line.substr(equals + 3);
  }
  return values;
}

}  // namespace

Recipe parse_recipe(std::string_view toml, std::string_view file, std::span<const std::string> overrides) {
  return filled(file, [&](const Fields& fields) { fields.parse(toml, file, overrides); });
}

Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides) {
  return filled(path.string(), [&](const Fields& fields) { fields.read(path, overrides); });
}

std::string recipe_text(const Recipe& recipe) {
  Recipe copy = recipe;
  const auto texts = [](const PairFiles& p) {
    return std::array{p.source.string(), p.target.string(), p.tsv.string()};
  };
  Names names{texts(copy.data.train), texts(copy.data.valid)};
  copy.data.folder.clear();  // it is part of the names now
  // TOML cannot hold it. In a checkpoint it is a note that nobody needs: who goes on names the folder.
  if (utf8_fault(copy.output.folder) != std::string::npos) copy.output.folder.clear();
  Fields fields;
  add_all(fields, copy, names);
  return fields.text();
}

std::string difference(const Recipe& now, const Recipe& before) {
  const auto fixed = [](Recipe r) {
    Fields fields;
    add_model(fields, r.model);
    add_attention(fields, r.model.attention);
    add_train(fields, r.train);
    return values_of(fields.text());
  };
  std::string all;
  const auto mine = fixed(now), other = fixed(before);
  for (const auto& [key, value] : mine)
    if (value != other.at(key))
      all += fmt::format("{}{} is {}, was {}", all.empty() ? "" : "; ", key, value, other.at(key));
  return all;
}

std::string_view example_recipe() {
  return R"(# Dates in some 40 languages to ISO 8601, by a GRU with additive attention: a minute on two cores.
[data]
task = "dates"                # built in; or files:
# source = "train.de.gz"      #   two files, line by line (plain or gzip),
# target = "train.en.gz"
# valid_source = "valid.de"   #   and two to validate on; without them data.held_out is kept back
# valid_target = "valid.en"
# tsv = "words.tsv"           #   or one file with columns
# source_tokens = "words"     # characters, letters, words or sentencepiece
# target_tokens = "sentencepiece"
# target_size = 8000

[model]
kind = "rnn"                  # or transformer
cell = "gru"
width = 128

[attention]
score = "additive"            # any of `heed mechanisms --part score`

[train]
batch_tokens = 1024
learning_rate = 0.003
schedule = "cosine"
warmup = 50

[stop]
epochs = 4

[validate]
every = 200
metric = "exact"

[output]
folder = "dates"
)";
}

}  // namespace heed::train
