// Sequence to sequence: translation, spelling to sound, dates to numbers. Lines of sources and lines of targets.
#include <fmt/format.h>

#include <algorithm>

#include "heed/data/built_in_task.h"
#include "heed/model/choices.h"
#include "heed/model/copying.h"
#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/choices.h"
#include "heed/model/parallel_model.h"
#include "heed/model/seq2seq.h"
#include "heed/task/all.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/seq2seq/answers.h"
#include "heed/task/seq2seq/texts.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"
#include "heed/text/metric/all.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

// ------------------------------------------------------------------------------------------------------ keys of [data]

void add_files(Fields& f, const std::string& prefix, data::PairFiles& files, const std::string& what) {
  f.add("data." + prefix + "source", files.source,
        "file with the sources for " + what + ", one per line; plain or gzip");
  f.add("data." + prefix + "target", files.target, "file with their targets, line by line");
  f.add("data." + prefix + "tsv", files.tsv, "or one file with both, in columns separated by tabs");
}

std::vector<std::string> built_in_names() {
  std::vector<std::string> names = {"none"};
  for (const data::BuiltInTask* task : heed::data::built_in_tasks())
    if (!task->pictures) names.push_back(task->name);
  return names;
}

bool is_one_kind_of_file(const data::PairFiles& f) {
  return f.source.empty() == f.target.empty() && f.source.empty() != f.tsv.empty();
}

// ----------------------------------------------------------------------------------------------------- keys of [model]

/// Kinds that name both an encoder and a decoder.
std::vector<std::string> kinds() {
  std::vector<std::string> words;
  const std::vector<std::string> decoders = decode::all_decoders().names();
  for (const std::string& word : encode::all_encoders().names())
    if (std::find(decoders.begin(), decoders.end(), word) != decoders.end()) words.push_back(word);
  return words;
}

// ------------------------------------------------------------------------------------------------------------ the task

class PairsTask final : public Task {
 public:
  PairsTask() : Task("seq2seq", "pairs translation", "sequence to sequence: lines of sources, lines of targets") {}

  const char* learns() const override { return "pairs, sequence to sequence"; }
  std::vector<std::string> file_keys(int64_t files, DataRole role) const override {
    if (files != 2) return Task::file_keys(files, role);
    const std::string prefix = role == DataRole::train ? "data." : "data.valid_";
    return {prefix + "source", prefix + "target"};
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What the model learns: a built-in task, or pairs of lines from files.");
    f.add("data.task", d.task, "a built-in task with generated data; none: the data is in files",
          Limit::one_of(built_in_names()));
    f.add("data.examples", d.examples, "task: pairs for training", Limit::between(1, kMostLines));
    f.add("data.valid_examples", d.valid_examples, "task: pairs for validation", Limit::between(1, kMostLines));
    add_folder_keys(f, d);
    add_files(f, "", d.train, "training");
    f.add("data.source_column", d.train.source_column, "column of the sources in the TSV, from 1",
          Limit::between(1, kMostColumns));
    f.add("data.target_column", d.train.target_column, "column of the targets", Limit::between(1, kMostColumns));
    add_header_key(f, d);
    f.add("data.turns", d.train.turns,
          "turns of a dialogue that are read before an answer: the TSV then holds a turn per line, and an empty line "
          "after "
          "each dialogue; 0: it holds pairs",
          Limit::between(0, 1000));
    f.add("data.columns", d.train.columns, "the exact number of columns of every line; 0: any number",
          Limit::between(0, kMostColumns));
    f.add("data.max_characters", d.train.max_characters,
          "pairs with a side of more characters are skipped; 0: no limit", Limit::between(0, kMostTokens));
    f.add("data.alignments", d.alignments,
          "file with the alignments of the training pairs, line by line, such as 0-0 1-2: source-target, from 0");
    f.add("data.alignments_count", d.alignments_count, "what its numbers count: tokens of the model, or words",
          Limit::one_of({"tokens", "words"}));
    add_files(f, "valid_", d.valid, "validation");
    add_held_out_key(f, d);
    add_tokeniser_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    add_tokeniser_keys(f, "target", text::Tokeniser::kinds_to_write(), d.target);
    f.add("data.joint", d.joint, "one vocabulary for both sides, split like the source");
    f.add("data.sentencepiece", d.source.model, "how sentencepiece learns its pieces",
          Limit::one_of({"unigram", "bpe"}));
    f.add("data.max_source", d.max_source, "pairs whose source has more tokens are skipped; 0: no limit",
          Limit::between(0, kMostTokens));
    f.add("data.max_target", d.max_target, "the same for the target", Limit::between(0, kMostTokens));
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "kind of the encoder and the decoder", Limit::one_of(kinds()));
    f.add("model.encoder", m.encoder, "kind of the encoder; empty: as model.kind",
          Limit::one_of_or_empty(encode::all_encoders().names()));
    f.add("model.decoder", m.decoder, "kind of the decoder; empty: as model.kind",
          Limit::one_of_or_empty(decode::all_decoders().names()));
    add_size_keys(f, m);
    f.add("model.decoder_layers", m.decoder_layers, "layers of the decoder", Limit::between(1, 1000));
    f.add("model.wiring", m.wiring,
          "what each block of the decoder attends to: the last output of the encoder, that of the same block, or a "
          "learned mix of all",
          Limit::one_of(heed::words_of(encode::kWirings)));
    f.add("model.tied", m.tied, "shared embeddings: none, input and output of the decoder, or all (with data.joint)",
          Limit::one_of(heed::words_of(model::kTied)));
    f.add("model.length", m.length,
          "parallel decoder: how an output gets its length; slots: model.slots positions, cut at the end token",
          Limit::one_of(heed::words_of(model::kOutputLengths)));
    f.add("model.slots", m.slots, "model.length = \"slots\": the most tokens of a target and its end",
          Limit::between(1, kLongest));
    f.add("model.copy", m.copying.on,
          "the decoder also copies words of the source, known or not: what it attends to says which");
    f.add("model.copy_layer", m.copying.layer,
          "model.copy: the layer of the decoder whose attention says what is copied, from 0; -1: the last",
          Limit::between(-1, 999));
    f.add("model.copy_head", m.copying.head, "its head, from 0; -1: the mean of all",
          Limit::between(-1, kMostHeads - 1));
    f.add("model.coverage_loss", m.copying.coverage,
          "model.copy: weight in the loss of looking again at what was looked at before; 0: none",
          Limit::between(0, 1e6));
    f.add("model.input_feeding", m.input_feeding, "rnn: the last attentional vector is fed in with the next token");
    add_stack_keys(f, m);
    for (const decode::DecoderEntry* decoder : decode::all_decoders())
      if (decoder->add_keys) decoder->add_keys(f, m.own);
  }

  void add_description(Fields& f, Description& d) const override {
    f.add("answers.turns", d.answers.turns, "dialogues: the turns that are read before an answer; 0: pairs of texts",
          Limit::between(0, 1000));
    add_token_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    add_token_keys(f, "target", text::Tokeniser::kinds_to_write(), d.target);
    f.add("tokens.joint", d.joint, "one vocabulary for both sides: that of the source");
  }

  std::vector<std::string> contradictions(const Description& d) const override {
    if (d.model.tied != "all" || d.joint) return {};
    return {"model.tied = \"all\" needs tokens.joint = true: one vocabulary"};
  }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    const auto need = [&](bool condition, std::string what) {
      if (!condition) all.push_back(std::move(what));
    };
    const bool files = !d.train.source.empty() || !d.train.target.empty() || !d.train.tsv.empty();
    const bool valid = d.has_validation_files();
    need(files || d.task != "none", "there is no data: set data.task, or data.source and data.target, or data.tsv");
    need(!files || d.task == "none", "data.task and files cannot be combined");
    need(!files || is_one_kind_of_file(d.train),
         "the data must be either two files, data.source and data.target, or one data.tsv");
    need(
        !valid || is_one_kind_of_file(d.valid),
        "the validation data must be either two files, data.valid_source and data.valid_target, or one data.valid_tsv");
    need(d.alignments.empty() || files,
         "data.alignments needs pairs from files: data.source and data.target, or data.tsv");
    need(d.alignments.empty() || !decode::find_decoder(m.decoder_kind()).make_parallel,
         "data.alignments needs a decoder that writes step by step, not model.decoder = \"parallel\"");
    need(!m.copying.on || !decode::find_decoder(m.decoder_kind()).make_parallel,
         "model.copy needs a decoder that writes step by step, not model.decoder = \"parallel\"");
    need(!m.copying.on || d.alignments.empty(), "model.copy and data.alignments cannot be combined");
    need(!m.copying.on || (m.attention.time != "guided" && m.attention.normalise != "hard_sampled"),
         "model.copy cannot be combined with attention.time = \"guided\" or attention.normalise = \"hard_sampled\"");
    need(m.copying.on || m.copying.coverage == 0.0f, "model.coverage_loss needs model.copy = true");
    for (const std::string& wrong : {size_problem("source", d.source), size_problem("target", d.target)})
      need(wrong.empty(), wrong);
    need(m.tied != "all" || d.joint, "model.tied = \"all\" needs data.joint = true: one vocabulary");
    return all;
  }

  std::vector<std::string> metrics() const override {
    std::vector<std::string> names;
    for (const metric::MetricEntry& entry : metric::all_metrics()) names.push_back(entry.name);
    return names;
  }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawPairCorpus>(options, seed);
  }

  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    if (decode::find_decoder(options.decoder_kind()).make_parallel)
      return std::make_unique<model::ParallelModel>(parameters, options);
    return std::make_unique<model::Seq2Seq>(parameters, options);
  }

  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()), decode::find_decoder(model.decoder_kind()));
  }
  std::optional<EncoderPart> encoder_part(const model::Options& model) const override {
    return EncoderPart{.kind = model.encoder_kind(), .depth = model.encoder_layers, .both_ways = model.bidirectional};
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return predict_targets(asked, lines, options);
  }

  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_pairs(asked, pairs);
  }

  AttentionPlace place_of(std::string_view attention, int64_t, const model::Options& model) const override {
    using enum AttentionRows;
    const bool at_once = decode::find_decoder(model.decoder_kind()).make_parallel != nullptr;
    if (attention.starts_with("encoder.")) return {"self-attention of the encoder", source, source};
    if (attention == model::Copying::kWatched) return {"copied from the source", target_out, source};
    if (attention.ends_with(".self"))
      return {"self-attention of the decoder", at_once ? written : target_in, at_once ? written : target_in};
    return {"attention to the source", at_once ? written : target_out, source};
  }
};

}  // namespace

const Task& pairs_task() {
  static const PairsTask task;
  return task;
}

}  // namespace heed::task
