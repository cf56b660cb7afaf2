// The sections of a recipe: every key, where its value goes, its meaning and its allowed values. Keys of [data] and
// [model] that depend on the kind of task are defined by the task.
#include "heed/train/recipe/sections.h"

#include <string>
#include <vector>

#include "heed/task/model_keys.h"
#include "heed/task/predict_options.h"
#include "heed/task/recipe_limits.h"
#include "heed/task/task.h"
#include "heed/train/objective/all.h"

namespace heed::recipe {

namespace {

using file::Fields;
using file::Limit;
using namespace task;  // the ranges of the numbers

/// Above 0 and at most `most`.
Limit positive(double most) { return {.least = Limit::Bound{0, false}, .most = Limit::Bound{most}}; }

void add_objective(Fields& f, objective::Options& o) {
  f.add("train.objective", o.name, "what an update minimises: docs/training.md",
        Limit::one_of(objective::all().names()));
  objective::each_option(o, [&](const char* name, auto& value, const char* meaning) {
    f.add(std::string("train.") + name, value, meaning);
  });
  for (const char* key : {"train.noise_wrong", "train.noise_dropped", "train.noise_swapped"})
    f.limit(key, Limit::between(0, 1));
  f.limit("train.sampling_schedule", Limit::one_of(words_of(objective::kGrowths)));
  f.limit("train.sampling_most", Limit::between(0, 1));
  f.limit("train.sampling_steps", Limit::between(0, kMostUpdates));
  f.limit("train.sampling_token", Limit::one_of(words_of(objective::kOwnTokens)));
  f.limit("train.sampling_passes", Limit::between(0, 100));
  f.limit("train.reward", Limit::one_of(objective::reward_names()));
  f.limit("train.hypotheses", Limit::between(1, 1000));
  f.limit("train.hypotheses_by", Limit::one_of(words_of(objective::kHypothesesBy)));
  f.limit("train.sharpness", positive(1e6));
  f.limit("train.likelihood_share", Limit::from_to_below(0, 1));
}

void add_alignment(Fields& f, model::AlignOptions& a) {
  f.add("train.align_weight", a.weight, "data.alignments: weight of their loss", Limit::between(0, 1e6));
  f.add("train.align_schedule", a.schedule, "how that weight falls during training",
        Limit::one_of({"constant", "linear", "exponential"}));
  f.add("train.align_steps", a.steps,
        "linear: updates until the weight is 0; exponential: updates in which it falls to a tenth",
        Limit::between(0, kMostUpdates));
  f.add("train.align_layer", a.layer, "layer of the decoder that learns from the alignments, from 0; -1: all",
        Limit::between(-1, 999));
  f.add("train.align_head", a.head, "head that learns from them, from 0; -1: all", Limit::between(-1, kMostHeads - 1));
}

void add_train(Fields& f, TrainerOptions& t) {
  f.section("train", "The updates of the weights.");
  f.add("train.seed", t.seed, "seed of the weights, the order of the batches and dropout");
  f.add("train.batch_tokens", t.batch_tokens, "tokens per batch, on each side", Limit::between(1, kMostTokens));
  f.add("train.accumulate", t.accumulate, "batches per update; their gradients are added", Limit::between(1, 1e6));
  f.add("train.learning_rate", t.schedule.peak, "the peak learning rate, reached at the end of the warm-up",
        Limit::above(0));
  f.add("train.schedule", t.schedule.kind, "how the learning rate changes after the warm-up",
        Limit::one_of({"constant", "inverse_sqrt", "cosine"}));
  f.add("train.warmup", t.schedule.warmup, "updates of the linear warm-up from 0 to the peak rate",
        Limit::between(0, kMostUpdates));
  f.add("train.final_rate", t.schedule.floor, "cosine: the final learning rate", Limit::between(0, kLargestRate));
  f.add("train.beta1", t.adam.beta1, "Adam: decay of the mean of gradients", Limit::from_to_below(0, 1));
  f.add("train.beta2", t.adam.beta2, "Adam: decay of the mean of squared gradients", Limit::from_to_below(0, 1));
  f.add("train.epsilon", t.adam.epsilon, "Adam: added to the denominator, to avoid division by 0", positive(1));
  f.add("train.weight_decay", t.adam.decay,
        "weight decay of AdamW, of matrices only: biases and gains do not decay; 0: plain Adam",
        Limit::between(0, kLargestRate));
  f.add("train.clip", t.clip, "clip the norm of all gradients together to this; 0: no clipping",
        Limit::between(0, 1e9));
  f.add("train.label_smoothing", t.label_smoothing, "share of the probability spread over all tokens",
        Limit::from_to_below(0, 1));
  add_objective(f, t.objective);
  f.add(
      "train.average", t.average,
      "decay d of a moving average of the weights, which is then validated and saved; it is min(d, (1 + t) / (10 + t)) "
      "after t updates; 0: none",
      Limit::from_to_below(0, 1));
}

std::vector<std::string> metric_names(const task::Task& task) {
  std::vector<std::string> names = task.metrics();
  names.insert(names.begin(), "loss");
  return names;
}

void add_stop(Fields& f, StopOptions& s) {
  f.section("stop", "Training ends at the first of these limits; 0: no limit.");
  f.add("stop.steps", s.steps, "updates in all", Limit::between(0, kMostUpdates));
  f.add("stop.epochs", s.epochs, "passes through the data", Limit::between(0, kMostLines));
  f.add("stop.minutes", s.minutes, "minutes of training", Limit::between(0, kMostLines));
  f.add("stop.patience", s.patience, "validations in a row without improvement", Limit::between(0, kMostLines));
}

void add_validate(Fields& f, ValidateOptions& v, const task::Task& task) {
  f.section("validate", "How good the model is on data that it is not trained on.");
  f.add("validate.every", v.every, "updates between two validations", Limit::between(1, kMostUpdates));
  f.add("validate.metric", v.metric,
        "how to choose the best model: by the loss per token, or by a metric of its outputs",
        Limit::one_of(metric_names(task)));
  f.add("validate.decode", v.decode, "sources to decode for metrics; 0: none, -1: all", Limit::between(-1, kMostLines));
  f.add("validate.longest", v.longest, "longest output, in tokens", Limit::between(1, kLongest));
  f.add("validate.samples", v.samples, "outputs to show at each validation", Limit::between(0, 1e6));
}

void add_output(Fields& f, OutputOptions& o) {
  f.section("output", "What is saved.");
  f.add("output.folder", o.folder, "folder for checkpoints and logs; also --output");
  f.add("output.keep_last", o.keep_last, "newest checkpoints to keep, in addition to the best one",
        Limit::between(1, 1e6));
  f.add("output.checkpoint_minutes", o.checkpoint_minutes,
        "longest time between two checkpoints; 0: save only at validations", Limit::between(0, kMostLines));
  f.add("output.log_every", o.log_every, "updates between two lines of log.jsonl", Limit::between(1, kMostUpdates));
}

}  // namespace

void add_train_section(Fields& f, Recipe& r) {
  add_train(f, r.train);
  add_alignment(f, r.model.align);
}

void add_sections(Fields& f, Recipe& r, const Task& task) {
  task.add_data(f, r.data);
  add_model_sections(f, r.model, task);
  add_train_section(f, r);
  add_stop(f, r.stop);
  add_validate(f, r.validate, task);
  add_output(f, r.output);
}

}  // namespace heed::recipe
