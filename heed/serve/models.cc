#include "heed/serve/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/serve/failure.h"
#include "heed/view/look.h"

namespace heed::serve {

ModelSource model_source(const std::string& argument, const std::string& checkpoint) {
  std::error_code ignored;
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || std::filesystem::exists(argument, ignored))
    return {.name = "", .folder = argument, .checkpoint = checkpoint};
  return {.name = argument.substr(0, equals), .folder = argument.substr(equals + 1), .checkpoint = checkpoint};
}

const task::Task& ServedModel::task() const { return predictor.model().task(); }

Models::Models(std::span<const ModelSource> sources) : sources_(sources.begin(), sources.end()) {
  for (const ModelSource& source : sources_) {
    Model model = load(source);
    for (const Model& other : models_)
      expect(other->name != model->name, "'{}' and '{}' would both be called '{}'; give one another name: other={}",
             other->folder.string(), source.folder, model->name, source.folder);
    models_.push_back(std::move(model));
  }
}

Models::Model Models::load(const ModelSource& source) {
  auto predictor = predict::load({source.folder}, {.checkpoint = source.checkpoint, .precision = source.precision});
  view::ModelName about = view::name_of(predictor, source.folder);
  if (!source.name.empty()) about.name = source.name;
  const std::string name = about.name;
  return std::make_shared<const ServedModel>(
      ServedModel{name, source.folder, ++versions_, std::move(predictor), std::move(about)});
}

std::vector<Models::Model> Models::all() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

Models::Model Models::find(const std::string& name) const {
  const std::vector<Model> there = all();
  std::vector<std::string> names;
  for (const Model& model : there) {
    if (model->name == name || (name.empty() && there.size() == 1)) return model;
    names.push_back(model->name);
  }
  if (name.empty())
    throw Failure(400, "no_model", fmt::format("\"model\" is missing. There are: {}.", fmt::join(names, ", ")));
  throw Failure(404, "no_model", unknown_name("model", name, names));
}

std::vector<std::string> Models::reload() {
  std::vector<std::string> messages;
  for (size_t i = 0; i < sources_.size(); ++i) {
    try {
      Model model = load(sources_[i]);
      const std::lock_guard lock(mutex_);
      models_[i] = std::move(model);
    } catch (const std::exception& error) {
      messages.push_back(
          fmt::format("'{}' was not loaded again, and stays as it was: {}", sources_[i].folder, error.what()));
    }
  }
  return messages;
}

}  // namespace heed::serve
