#include "heed/checkpoint/average.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"

namespace heed::trained {

namespace {

/// Throws unless both have the same model and vocabularies. Runs with other data or another seed may be averaged.
void expect_one_model(const file::Checkpoint& first, const task::Description& mine, const file::Checkpoint& other) {
  const task::Description theirs = description_of(other);
  const std::string changed = task::difference(theirs, mine);
  expect(changed.empty(), ErrorKind::file, "'{}' and '{}' are not the same model: {}", first.folder().string(),
         other.folder().string(), changed);
  for (const task::Description::Side* side : {&mine.source, &mine.target}) {
    if (mine.joint && side == &mine.target) continue;
    expect(other.has(side->vocabulary) && other.text(side->vocabulary) == first.text(side->vocabulary), ErrorKind::file,
           "'{}' and '{}' are not the same model: they differ in {}", first.folder().string(), other.folder().string(),
           side->vocabulary);
  }
}

}  // namespace

TrainedModel average(std::span<const file::Checkpoint> checkpoints) {
  expect(!checkpoints.empty(), "average: there are no checkpoints");
  const file::Checkpoint& first = checkpoints.front();
  TrainedModel mean = load_model(first);
  std::vector<std::vector<double>> sums;
  for (const Parameter& p : *mean.parameters) sums.emplace_back(static_cast<size_t>(p.size()), 0.0);
  int64_t step = 0;
  for (const file::Checkpoint& checkpoint : checkpoints) {
    expect_one_model(first, mean.description, checkpoint);
    const Training training = training_of(checkpoint);
    if (training.facts.has("step")) step = std::max(step, training.facts.integer("step"));
    const file::Safetensors tensors = checkpoint.tensors(file::kWeightsPart);
    expect(tensors.tensors().size() == sums.size(), ErrorKind::file, "'{}' holds {} weights, but '{}' holds {}",
           tensors.file(), tensors.tensors().size(), first.folder().string(), sums.size());
    size_t i = 0;
    for (const Parameter& p : *mean.parameters) {
      expect(tensors.at(p.name).shape == p.shape, ErrorKind::file,
             "'{}': {} has shape {}, but {} in the other checkpoints", tensors.file(), p.name,
             file::shape_text(tensors.at(p.name).shape), file::shape_text(p.shape));
      const std::vector<float> values = tensors.values(p.name);
      expect_finite(values, checkpoint, p.name);
      for (size_t n = 0; n < values.size(); ++n) sums[i][n] += static_cast<double>(values[n]);
      ++i;
    }
  }
  const auto count = static_cast<double>(checkpoints.size());
  size_t i = 0;
  for (Parameter& p : *mean.parameters) {
    std::transform(sums[i].begin(), sums[i].end(), p.value.data(),
                   [count](double sum) { return static_cast<float>(sum / count); });
    ++i;
  }
  mean.training.facts = {};
  if (step > 0) mean.training.facts.set("step", step);
  mean.training.facts.set("averaged", std::ssize(checkpoints));
  return mean;
}

}  // namespace heed::trained
