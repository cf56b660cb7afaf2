#include "heed/train/trainer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/profile.h"
#include "heed/train/decision.h"
#include "heed/train/objective/objective.h"
#include "heed/train/optimise/clip.h"
#include "heed/train/optimise/gradient_sum.h"
#include "heed/train/optimise/schedule.h"

namespace heed::train {

namespace {

constexpr std::string_view kCarried = "carried.";  // "carried.4711.states": by the place where the text goes on

data::RecurrentCarry carried_in(const file::Safetensors& tensors) {
  data::RecurrentCarry carried;
  for (const file::StoredTensor& tensor : tensors.tensors()) {
    std::string_view name = tensor.name;
    if (!name.starts_with(kCarried)) continue;
    name.remove_prefix(kCarried.size());
    int64_t place = -1;
    const char* const last = name.data() + name.size();
    const auto [end, wrong] = std::from_chars(name.data(), last, place);
    const std::string_view part(end, static_cast<size_t>(last - end));
    expect(wrong == std::errc() && place >= 0 && (part == ".states" || part == ".rows"), ErrorKind::file,
           "{}: '{}' is not the name of a carried state", tensors.file(), tensor.name);
    expect(tensor.shape.size() == 1, ErrorKind::file, "'{}': '{}' must have one dimension, not the shape {}",
           tensors.file(), tensor.name, file::shape_text(tensor.shape));
    data::CarriedState& past = carried[place];
    (part == ".rows" ? past.rows : past.states) = tensors.values(tensor.name);
  }
  return carried;
}

/// What the optimiser keeps for a parameter, under "kind.name". Equal sizes are not enough: numbers of another shape
/// belong to other weights.
std::vector<float> kept_for(const Parameter& p, std::string_view kind, const file::Safetensors& tensors) {
  const file::StoredTensor& tensor = tensors.at(fmt::format("{}.{}", kind, p.name));
  expect(tensor.shape == p.shape, ErrorKind::file, "'{}': '{}' must be {}, as the weights '{}' are, not {}",
         tensors.file(), tensor.name, file::shape_text(p.shape), p.name, file::shape_text(tensor.shape));
  return tensors.values(tensor.name);
}

data::BatchOptions batch_options(const TrainerOptions& o) {
  return {.max_tokens = o.batch_tokens, .seed = o.seed, .side_by_side = o.accumulate};
}

}  // namespace

int64_t updates_per_epoch(const data::Dataset& examples, const TrainerOptions& o) {
  const auto batches = examples.batches(batch_options(o), 0);
  return (static_cast<int64_t>(batches.size()) + o.accumulate - 1) / o.accumulate;
}

Trainer::Trainer(std::unique_ptr<objective::Objective> objective, Parameters& parameters, const data::Dataset& examples,
                 const TrainerOptions& options)
    : objective_(std::move(objective)),
      parameters_(&parameters),
      examples_(&examples),
      options_(options),
      adam_(parameters, options.adam),
      sum_(std::make_unique<optimise::GradientSum>(parameters)) {
  expect(examples.size() > 0, ErrorKind::data, "train: there are no examples");
  expect(options.accumulate >= 1, "train: accumulate must be at least 1, not {}", options.accumulate);
  if (options.accumulate > 1 && objective_->has_one_backward())
    tape_.on_final_gradient([this](Parameter& p) { sum_->add(p); });
  if (options.average > 0.0f) average_.emplace(parameters, options.average);
}

Trainer::Trainer(const model::Model& model, Parameters& parameters, const data::Dataset& examples,
                 const TrainerOptions& options)
    : Trainer(objective::likelihood(model, options.label_smoothing), parameters, examples, options) {}

Trainer::~Trainer() = default;

const std::vector<data::Indices>& Trainer::batches() {
  if (order_epoch_ != epoch_) {
    order_ = examples_->batches(batch_options(options_), epoch_);
    order_epoch_ = epoch_;
  }
  return order_;
}

std::vector<data::Indices> Trainer::next_batches() {
  std::vector<data::Indices> next;
  for (int64_t i = 0; i < options_.accumulate; ++i) {
    next.push_back(batches()[static_cast<size_t>(batch_)]);
    if (++batch_ < std::ssize(batches())) continue;
    batch_ = 0;
    ++epoch_;
  }
  return next;
}

StepReport Trainer::step() {
  Outcome outcome;
  StepReport report = collect(outcome);
  report.skipped = reason_to_skip(report.loss, report.norm);
  if (report.skipped.empty())
    apply(report, std::move(outcome));
  else
    skip(report);
  return report;
}

StepReport Trainer::collect(Outcome& outcome) {
  StepReport report;
  report.step = ++step_;
  report.epoch = epoch_ + 1;
  report.rate = optimise::learning_rate(options_.schedule, step_);

  // All batches of the update first: the loss of each is divided by the tokens of all, the end of each target included.
  const std::vector<data::Indices> chosen = next_batches();
  int64_t examples = 0;
  for (const data::Indices& batch : chosen) {
    examples += std::ssize(batch);
    for (const int64_t example : batch) report.tokens += examples_->predictions(example);
  }
  objective::UpdatePart part{.share = 1.0 / static_cast<double>(report.tokens),
                             .example_share = 1.0 / static_cast<double>(examples),
                             .updates_before = step_ - 1};
  sum_->begin(std::ssize(chosen));
  for (const data::Indices& batch : chosen) {
    data::Batch packed = examples_->pack(batch);
    packed.carried = &carried_;
    packed.updates_before = part.updates_before;
    part.seed = options_.seed * 1'000'003 + static_cast<uint64_t>(step_ * options_.accumulate + part.number);
    objective::PartReport done = objective_->run(tape_, packed, part);
    sum_->end_batch();
    ++part.number;
    report.loss += done.loss;
    report.nll += done.nll;
    report.accuracy += done.accuracy;
    if (done.reward) report.reward = report.reward.value_or(0.0) + *done.reward;
    outcome.carried.merge(done.carried);
    model::add_change(outcome.baseline, done.baseline);
  }
  report.memory = static_cast<int64_t>(tape_.arena().peak());

  const Timed timed(Work::optimiser);
  report.norm = options_.clip > 0.0f ? optimise::clip_gradients(*parameters_, options_.clip)
                                     : optimise::gradient_norm(*parameters_);
  return report;
}

void Trainer::apply(const StepReport& report, Outcome outcome) {
  const Timed timed(Work::optimiser);
  adam_.step(report.rate);
  model::apply_change(outcome.baseline);
  if (average_) average_->update(step_);
  carried_ = std::move(outcome.carried);
  skipped_ = 0;
}

void Trainer::skip(const StepReport& report) {
  parameters_->forget_gradients();
  carried_.clear();  // what the update left may hold what was not finite, and the text goes on behind it
  ++skipped_;
  expect(skipped_ < kMostSkipped, ErrorKind::data,
         "train: {} in update {}, and {} updates in a row were skipped. A smaller train.learning_rate, a longer "
         "train.warmup or a smaller train.clip may help; the last checkpoint is unchanged.",
         report.skipped, step_, skipped_);
}

Trainer::Averaged::Averaged(Trainer& trainer) : average_(trainer.average_ ? &*trainer.average_ : nullptr) {
  if (average_) average_->swap();
}
Trainer::Averaged::~Averaged() {
  if (average_) average_->swap();
}

void Trainer::save(file::CheckpointWriter& writer, file::TrainingState& state) const {
  state.set("step", step_);
  state.set("epoch", epoch_);
  state.set("batch", batch_);
  state.set("skipped", skipped_);
  std::vector<file::TensorToWrite> tensors;
  for (const Parameter& p : *parameters_) {
    if (const optimise::Adam::Moments* m = adam_.find(p); m && m->steps > 0) {
      tensors.push_back({"first." + p.name, p.shape, m->first.data()});
      tensors.push_back({"second." + p.name, p.shape, m->second.data()});
      state.set("adam." + p.name, m->steps);
    }
    // weights.safetensors holds the average, which is what a user wants to run; the weights themselves go here
    if (average_) tensors.push_back({"value." + p.name, p.shape, p.value.data()});
  }
  for (const auto& [place, past] : carried_)
    for (const auto& [part, numbers] : {std::pair("states", &past.states), std::pair("rows", &past.rows)})
      if (!numbers->empty())
        tensors.push_back({fmt::format("{}{}.{}", kCarried, place, part), {std::ssize(*numbers)}, numbers->data()});
  writer.add_tensors(file::kOptimiserPart, std::move(tensors));
  if (!average_) {
    writer.add_tensors(file::kWeightsPart, *parameters_);
    return;
  }
  std::vector<file::TensorToWrite> averages;
  size_t n = 0;
  for (const Parameter& p : *parameters_) averages.push_back({p.name, p.shape, average_->averages()[n++].data()});
  writer.add_tensors(file::kWeightsPart, std::move(averages));
}

void Trainer::load(const file::Checkpoint& checkpoint) {
  const file::TrainingState state = checkpoint.state();
  step_ = state.integer("step", 0, kMostSteps);
  // An epoch has at least one batch, and an update takes as many as are accumulated.
  epoch_ =
      state.integer("epoch", 0, step_ < kMostSteps / options_.accumulate ? step_ * options_.accumulate : kMostSteps);
  batch_ = state.integer("batch", 0, std::ssize(batches()) - 1);
  skipped_ = state.integer("skipped", 0, kMostSkipped - 1);
  checkpoint.load(file::kWeightsPart, *parameters_);
  const file::Safetensors tensors = checkpoint.tensors(file::kOptimiserPart);
  size_t n = 0;
  for (Parameter& p : *parameters_) {
    if (state.has("adam." + p.name))
      adam_.restore(p, {kept_for(p, "first", tensors), kept_for(p, "second", tensors),
                        state.integer("adam." + p.name, 1, step_)});
    if (average_) {
      average_->averages()[n] = p.value;
      p.value = kept_for(p, "value", tensors);
    }
    ++n;
  }
  carried_ = carried_in(tensors);
}

}  // namespace heed::train
