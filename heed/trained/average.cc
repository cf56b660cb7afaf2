#include "heed/trained/average.h"

#include <algorithm>

#include "heed/tensor/error.h"
#include "heed/trained/trained_model.h"

namespace heed::trained {

namespace {

/// Throws unless both have the same model and vocabularies.
void expect_one_model(const file::Checkpoint& first, const file::Checkpoint& other) {
  recipe::Recipe mine = recipe_of(first), theirs = recipe_of(other);
  mine.data = theirs.data = {};  // runs with other data or another seed may be averaged
  mine.train = theirs.train = {};
  const std::string changed = recipe::difference(theirs, mine);
  expect(changed.empty(), ErrorKind::file, "'{}' and '{}' are not the same model: {}", first.folder().string(),
         other.folder().string(), changed);
  for (const file::CheckpointPart& part : first.parts())
    if (part.name.ends_with(".vocab"))
      expect(other.has(part.name) && other.text(part.name) == first.text(part.name), ErrorKind::file,
             "'{}' and '{}' are not the same model: they differ in {}", first.folder().string(),
             other.folder().string(), part.name);
}

}  // namespace

AverageCheckpoint::AverageCheckpoint(std::span<const file::Checkpoint> checkpoints) {
  expect(!checkpoints.empty(), "average: there are no checkpoints");
  const file::Checkpoint& first = checkpoints.front();
  task::Vocabularies::load(first, recipe_of(first).data);  // throws if the mean could not be used
  std::vector<std::vector<double>> sums;
  int64_t step = 0;
  for (const file::Checkpoint& checkpoint : checkpoints) {
    expect_one_model(first, checkpoint);
    step = std::max(step, checkpoint.state().integer("step"));
    const file::Safetensors tensors = checkpoint.tensors(file::kWeightsPart);
    if (weights_.empty())
      for (const file::StoredTensor& t : tensors.tensors()) {
        weights_.push_back({t.name, t.shape, tensors.values(t.name)});
        sums.emplace_back(weights_.back().mean.size(), 0.0);
      }
    expect(tensors.tensors().size() == weights_.size(), ErrorKind::file, "'{}' holds {} weights, but '{}' holds {}",
           tensors.file(), tensors.tensors().size(), first.folder().string(), weights_.size());
    for (size_t i = 0; i < weights_.size(); ++i) {
      expect(tensors.at(weights_[i].name).shape == weights_[i].shape, ErrorKind::file,
             "'{}': {} has shape {}, but {} in the other checkpoints", tensors.file(), weights_[i].name,
             file::shape_text(tensors.at(weights_[i].name).shape), file::shape_text(weights_[i].shape));
      const std::vector<float> values = tensors.values(weights_[i].name);
      expect_finite(values, checkpoint, weights_[i].name);
      for (size_t n = 0; n < values.size(); ++n) sums[i][n] += static_cast<double>(values[n]);
    }
  }
  const auto count = static_cast<double>(checkpoints.size());
  for (size_t i = 0; i < weights_.size(); ++i)
    std::transform(sums[i].begin(), sums[i].end(), weights_[i].mean.begin(),
                   [count](double sum) { return static_cast<float>(sum / count); });

  for (const file::CheckpointPart& part : first.parts())
    if (part.name.ends_with(".vocab")) others_.add_text(part.name, first.text(part.name));
  const auto [part, version] = version_part();
  others_.add_text(part, version);
  others_.add_text("config.toml", config_to_copy(first));
  file::TrainingState state;
  state.set("step", step);
  state.set("averaged", std::ssize(checkpoints));
  others_.add_state(state);
}

void AverageCheckpoint::write(const std::filesystem::path& folder) const {
  file::CheckpointWriter writer = others_;
  std::vector<file::TensorToWrite> tensors;
  for (const Weight& weight : weights_) tensors.push_back({weight.name, weight.shape, weight.mean.data()});
  writer.add_tensors(file::kWeightsPart, std::move(tensors));
  writer.commit(folder);
}

}  // namespace heed::trained
