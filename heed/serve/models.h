// The models that a server answers with: loaded at the start, and again on request, without losing what runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "heed/predict/predictor.h"
#include "heed/view/document.h"

namespace heed::task {
class Task;
}

namespace heed::serve {

/// Where a model comes from, and what requests call it.
struct ModelSource {
  std::string name;  // empty: the name of the folder or file
  std::string folder;
  std::string checkpoint = "best";
  std::string precision = "stored";  // of the weights in memory: predict::LoadOptions
};

/// "en-de=runs/7" or "runs/7". A folder that is there may have a = in its name.
ModelSource model_source(const std::string& argument, const std::string& checkpoint);

struct ServedModel {
  std::string name;
  std::filesystem::path folder;
  uint64_t number = 0;   // another one for each model that was ever loaded: tells its jobs from those of others
  uint64_t version = 0;  // 1 at the start, and one more for each time that models were loaded again
  predict::Predictor predictor;
  view::ModelName about;

  const task::Task& task() const;
};

/// Threads: any. Who has a model keeps it, also if another takes its place.
class Models {
 public:
  /// Loads all of them. Throws if one cannot be loaded, or if two have the same name.
  explicit Models(std::span<const ModelSource> sources);

  using Model = std::shared_ptr<const ServedModel>;

  std::vector<Model> all() const;
  /// Empty name: the only one. Throws Failure if there is none, or if there are several to choose from.
  Model find(const std::string& name) const;

  /// All, or those that have another best or last checkpoint, or another file, than when they were loaded.
  enum class Which { all, changed };
  struct Reloaded {
    std::vector<std::string> loaded;    // names
    std::vector<std::string> messages;  // one that cannot be loaded stays as it was: which, and why
  };
  /// Threads: one at a time.
  Reloaded reload(Which which);

 private:
  Model load(const ModelSource& source);

  std::vector<ModelSource> sources_;
  std::vector<std::string> stamps_;  // of the sources, when they were last looked at: what would be loaded
  mutable std::mutex mutex_;
  std::vector<Model> models_;
  uint64_t version_ = 1, loaded_ = 0;
};

}  // namespace heed::serve
