// A trained model: its description, vocabularies and weights, ready to run or to be trained further.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/dtype.h"
#include "heed/checkpoint/checkpoint.h"
#include "heed/layer/parameters.h"
#include "heed/model/model.h"
#include "heed/task/description.h"
#include "heed/task/task.h"
#include "heed/task/vocabularies.h"

namespace heed::trained {

/// What is known of how a model was trained: nothing, if it was not trained here.
struct Training {
  std::string recipe = {};  // its text, config.toml of the checkpoint; empty: there is none
  std::string file = {};    // where that was read from: names of data may be relative to it
  /// For people: step, seconds, averaged, best_step, best_value and best_metric, those that are known.
  file::TrainingState facts = {};
};

struct TrainedModel {
  task::Description description;
  Training training;
  task::Vocabularies vocabularies;
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<model::Model> model;
  Dtype stored = Dtype::f32;  // of the weights in the file that it was loaded from

  const task::Task& task() const { return description.task(); }
  /// For predictions with the memory of `tapes`. The model must outlive it.
  task::LoadedModel loaded(search::TapePool& tapes) const;
  /// Longest output in tokens: answers.longest, or less if the model has fewer positions.
  int64_t longest_output() const;
};

/// A model for these vocabularies, with random weights of this seed, or without any: they are loaded, or drawn later
/// (Parameters::draw).
TrainedModel make_model(task::Description description, task::Vocabularies vocabularies, uint64_t seed = 0,
                        Start start = Start::drawn);

/// `folder`: a training folder, one of its checkpoints, or the file of a model (export.h). `name`: "best" (if none was
/// marked: the newest good one), "last", or the name of a checkpoint. Opened to run the model, not to resume its
/// training. A run in progress removes old checkpoints, even while they are being read: then `use` is called again,
/// with the one that took its place.
void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use);
/// `packed`: the format of its weights, of which a model that only runs needs one copy, packed for its products. Null:
/// numbers, to be trained on or written.
TrainedModel load_model(const file::Checkpoint& checkpoint, const WeightFormat* packed = nullptr);
TrainedModel load_model(const std::filesystem::path& folder, std::string_view name = "best",
                        const WeightFormat* packed = nullptr);

/// The formats that the weights of a model that only runs can stand in: those of tensor/format/, and kStored for that
/// of their numbers in the file: int8, bfloat16, or float32.
inline constexpr const char* kStored = "stored";
std::vector<std::string> precisions();
/// Throws unless there is one of that name. Then load_model(), to run the model alone.
TrainedModel load_to_run(const file::Checkpoint& checkpoint, std::string_view precision);
TrainedModel load_to_run(const std::filesystem::path& folder, std::string_view name, std::string_view precision);

/// The vocabularies in a checkpoint of a model of this description.
task::Vocabularies load_vocabularies(const file::Checkpoint& checkpoint, const task::Description& description);

/// What a checkpoint says without its weights: model.toml, or in version 1 (task/version_1.h) what follows from the
/// recipe; and the recipe, if it has one, in the words of today. A mistake in them is a damaged checkpoint.
task::Description description_of(const file::Checkpoint& checkpoint);
Training training_of(const file::Checkpoint& checkpoint);

/// Throws if a value of the weight `name` is infinite or NaN: training never saves one, so the file was changed.
void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name);

}  // namespace heed::trained
