#include "heed/serve/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/checkpoint/run_folder.h"
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

namespace {

/// Another one whenever another checkpoint or file would be loaded: names, and when the file or manifest was written.
std::string stamp_of(const ModelSource& source) {
  const std::filesystem::path path = source.folder;
  const file::RunFolder folder(path);
  std::string stamp;
  std::filesystem::path written = path;
  try {
    const std::vector<std::string> names = folder.names();
    const std::optional<std::string> best = folder.best_name();
    if (source.checkpoint == "best" && best)
      stamp = *best;
    else if (source.checkpoint != "best" && source.checkpoint != "last")
      stamp = source.checkpoint;
    else if (!names.empty())
      stamp = names.back();
    if (!stamp.empty()) written = path / stamp;
  } catch (const Error&) {
    // Not a folder, or one that cannot be read: loading it says why.
  }
  std::error_code none;
  const auto time = std::filesystem::last_write_time(written, none);
  return fmt::format("{} {}", stamp, none ? 0 : time.time_since_epoch().count());
}

}  // namespace

const task::Task& ServedModel::task() const { return predictor.model().task(); }

Models::Models(std::span<const ModelSource> sources) : sources_(sources.begin(), sources.end()) {
  for (const ModelSource& source : sources_) {
    stamps_.push_back(stamp_of(source));  // before it is loaded: what changes meanwhile is seen later
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
      ServedModel{name, source.folder, ++loaded_, version_, std::move(predictor), std::move(about)});
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

Models::Reloaded Models::reload(Which which) {
  Reloaded done;
  ++version_;
  for (size_t i = 0; i < sources_.size(); ++i) {
    std::string stamp = stamp_of(sources_[i]);
    if (which == Which::changed && stamp == stamps_[i]) continue;
    stamps_[i] = std::move(stamp);  // also if it cannot be loaded: that is said once
    try {
      Model model = load(sources_[i]);
      done.loaded.push_back(model->name);
      const std::lock_guard lock(mutex_);
      models_[i] = std::move(model);
    } catch (const std::exception& error) {
      done.messages.push_back(
          fmt::format("'{}' was not loaded again, and stays as it was: {}", sources_[i].folder, error.what()));
    }
  }
  if (done.loaded.empty()) --version_;
  return done;
}

}  // namespace heed::serve
