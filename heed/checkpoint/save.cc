#include "heed/checkpoint/save.h"

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/checkpoint/model_file.h"
#include "heed/checkpoint/weights.h"
#include "heed/data/data_folder.h"
#include "heed/data/options.h"

namespace heed::trained {

namespace {

/// The recipe for a copy somewhere else: names of data are not relative to where it was.
std::string recipe_to_copy(const Training& training) {
  if (file::peek(training.recipe, "data.relative_to") != data::kToRecipe) return training.recipe;
  const std::string folder = file::peek(training.recipe, "data.folder");
  const std::string text =
      file::with_text(training.recipe, "data.folder", data::folder_beside(training.file, folder).string());
  return file::with_text(text, "data.relative_to", data::kToCurrent);
}

}  // namespace

void each_text(const TrainedModel& model, const std::function<void(const std::string&, std::string)>& add) {
  add(kDescriptionPart, task::text_of(model.description));
  if (!model.training.recipe.empty()) add(kRecipePart, model.training.recipe);
  model.vocabularies.each_part(model.description, add);
}

void save_model(const TrainedModel& model, const std::filesystem::path& path, const SaveOptions& options) {
  file::ModelTexts texts;
  each_text(model, [&](const std::string& part, std::string text) {
    expect(texts.emplace(part, std::move(text)).second, "a model cannot have two parts with the name '{}'", part);
  });
  if (!model.training.recipe.empty()) texts[kRecipePart] = recipe_to_copy(model.training);
  if (!model.training.facts.values().empty()) texts.emplace(kStatePart, model.training.facts.json());
  std::vector<file::TensorToWrite> weights = file::tensors_of(*model.parameters, options.dtype);
  if (options.one_file) return file::write_model_file(path, texts, weights);
  file::CheckpointWriter writer;
  for (auto& [part, text] : texts) writer.add_text(part, std::move(text));
  writer.add_tensors(file::kWeightsPart, std::move(weights));
  writer.commit(path);
}

}  // namespace heed::trained
