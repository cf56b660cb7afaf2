// Words about a picture: the answer to a question, a label, a caption. Lines of a picture file, perhaps a question, and
// the answer.
#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/data/built_in_task.h"
#include "heed/model/choices.h"
#include "heed/model/decode/all.h"
#include "heed/model/encode/all.h"
#include "heed/task/all.h"
#include "heed/task/image/answers.h"
#include "heed/task/image/picture_encoder.h"
#include "heed/task/image/picture_model.h"
#include "heed/task/image/texts.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/shared_keys.h"
#include "heed/task/stack_facts.h"
#include "heed/text/metric/all.h"

namespace heed::task {

namespace {

using file::Fields;
using file::Limit;

std::vector<std::string> drawn_tasks() {
  std::vector<std::string> names = {"none"};
  for (const data::BuiltInTask* task : heed::data::built_in_tasks())
    if (task->pictures) names.push_back(task->name);
  return names;
}

/// An answer may also be one token, as a label is.
std::vector<std::string> kinds_of_answers() {
  std::vector<std::string> kinds = text::Tokeniser::kinds_to_write();
  kinds.emplace_back("lines");
  return kinds;
}

class PictureTask final : public Task {
 public:
  PictureTask()
      : Task("image", "picture", "words about a picture: lines of a picture file, a question and an answer") {}

  const char* example_word() const override { return "picture"; }
  SourceKind sources() const override { return SourceKind::picture; }
  LineParts parts_of(std::string_view line) const override { return parts_of_line(line); }

  const char* learns() const override { return "words about pictures"; }
  std::string recognises(const std::filesystem::path& file) const override { return looks_like_pictures(file); }

  void set_defaults(data::Options& d, model::Options&) const override {
    d.train.picture_column = 1;
    d.train.source_column = -1;  // found in the data
    d.train.target_column = 0;
    d.examples = 20'000;
    d.valid_examples = 500;
    d.source.kind = "words";
    d.target.kind = "words";
  }

  void add_data(Fields& f, data::Options& d) const override {
    f.section("data", "What is learned: pictures with questions and answers, or with captions.");
    f.add("data.task", d.task, "a built-in task whose pictures are drawn; none: the data is in files",
          Limit::one_of(drawn_tasks()));
    f.add("data.examples", d.examples, "task: examples for training", Limit::between(1, kMostLines));
    f.add("data.valid_examples", d.valid_examples, "task: examples for validation", Limit::between(1, kMostLines));
    add_folder_keys(f, d);
    f.add("data.tsv", d.train.tsv,
          "file with a picture file (PNG or JPEG, relative to this file), a question and an answer on each line, "
          "separated by tabs; without the question: a caption");
    f.add("data.picture_column", d.train.picture_column, "column of the pictures, from 1",
          Limit::between(1, kMostColumns));
    f.add("data.question_column", d.train.source_column,
          "column of the questions; 0: there are none; -1: the second of three or more, and none of two",
          Limit::between(-1, kMostColumns));
    f.add("data.answer_column", d.train.target_column,
          "column of the answers; 0: the third, or the second if there are no questions",
          Limit::between(0, kMostColumns));
    add_header_key(f, d);
    f.add("data.valid_tsv", d.valid.tsv, "file to validate on, with the same columns");
    add_held_out_key(f, d);
    add_tokeniser_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    add_tokeniser_keys(f, "target", kinds_of_answers(), d.target);
  }

  void add_model(Fields& f, model::Options& m) const override {
    f.add("model.kind", m.kind, "kind of the decoder, and of the encoder of the questions",
          Limit::one_of(decode::all_decoders().names(decode::writes_by_step)));
    f.add("model.questions", m.questions, "each picture comes with a question; follows from the data");
    f.add("model.picture_size", m.picture_size, "pictures are scaled to this many pixels to a side",
          Limit::between(2, 4096));
    f.add("model.picture_layers", m.picture_layers,
          "convolutions; each halves the side, and the last one gives the cells to look at", Limit::between(1, 12));
    f.add("model.picture_kernel", m.picture_kernel,
          "pixels to a side of each convolution; 2: a cell sees its own part of the picture only; 3: its borders too",
          Limit::between(2, 15));
    add_size_keys(f, m);
    f.add("model.decoder_layers", m.decoder_layers, "layers of the decoder", Limit::between(1, 1000));
    f.add("model.input_feeding", m.input_feeding, "rnn: the last attentional vector is fed in with the next token");
    add_stack_keys(f, m);
  }

  std::vector<std::string> problems(const data::Options& d, const model::Options& m) const override {
    std::vector<std::string> all;
    const auto need = [&](bool condition, std::string what) {
      if (!condition) all.push_back(std::move(what));
    };
    need(!d.train.tsv.empty() || d.task != "none", "there is no data: set data.tsv or data.task");
    need(d.train.tsv.empty() || d.task == "none", "data.task and data.tsv cannot be combined");
    const data::PairFiles& c = d.train;
    need(c.picture_column != c.source_column && c.picture_column != c.target_column &&
             (c.source_column <= 0 || c.source_column != c.target_column),
         fmt::format("two of data.picture_column {}, data.question_column {} and data.answer_column {} are the same",
                     c.picture_column, c.source_column, c.target_column));
    for (const std::string& wrong : {size_problem("source", d.source), size_problem("target", d.target)})
      need(wrong.empty(), wrong);
    try {
      cells_of_side(m.picture_size, m.picture_layers);
    } catch (const Error& error) {
      all.emplace_back(error.what());
    }
    return all;
  }

  void add_description(Fields& f, Description& d) const override {
    add_token_keys(f, "source", text::Tokeniser::kinds_to_read(), d.source);
    add_token_keys(f, "target", kinds_of_answers(), d.target);
  }

  std::vector<std::string> metrics() const override {
    std::vector<std::string> names = {"exact"};
    for (const metric::MetricEntry& entry : metric::all_metrics())
      if (names.front() != entry.name) names.push_back(entry.name);
    return names;
  }

  std::unique_ptr<RawCorpus> read(const data::Options& options, uint64_t seed) const override {
    return std::make_unique<RawPictureCorpus>(options, seed);
  }
  std::unique_ptr<model::Model> make(Parameters& parameters, const model::Options& options) const override {
    return std::make_unique<PictureModel>(parameters, options);
  }
  StackFacts stacks(const model::Options& model) const override {
    return facts_of_stacks(encode::find_encoder(model.encoder_kind()), decode::find_decoder(model.decoder_kind()));
  }
  std::vector<Prediction> predict(const LoadedModel& asked, std::span<const std::string> lines,
                                  const PredictOptions& options) const override {
    return predict_pictures(asked, lines, options);
  }
  std::vector<PairScore> score(const LoadedModel& asked, std::span<const TextPair> pairs) const override {
    return score_pictures(asked, pairs);
  }

  AttentionPlace place_of(std::string_view attention, int64_t, const model::Options&) const override {
    using enum AttentionRows;
    if (attention.starts_with("question.")) return {"self-attention of the question", source, source};
    if (attention.ends_with(".self")) return {"self-attention of the decoder", target_in, target_in};
    return {"attention to the picture", target_out, cells};
  }
};

}  // namespace

const Task& picture_task() {
  static const PictureTask task;
  return task;
}

}  // namespace heed::task
