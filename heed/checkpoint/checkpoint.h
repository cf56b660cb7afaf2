// A checkpoint: a folder that holds everything a training needs to go on, or a model needs to run; or a file that holds
// what a model needs to run (model_file.h).
//
//   model.toml  config.toml  weights.safetensors  optimiser.safetensors  state.json  source.vocab  ...  MANIFEST.json
//
// It is there completely or not at all (atomic.h), and every byte is checked against the manifest before it is used.
// A model that only runs does not use the state of the optimiser, three quarters of the bytes: it need not be there.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/manifest.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/training_state.h"
#include "heed/layer/parameters.h"

namespace heed::file {

class ModelFile;

inline constexpr const char* kWeightsPart = "weights.safetensors";
inline constexpr const char* kOptimiserPart = "optimiser.safetensors";

enum class Purpose { train, run };

/// Collects the parts, then writes them all.
class CheckpointWriter {
 public:
  void add_text(std::string name, std::string text);
  /// The numbers are not copied: they must stay until the last commit().
  void add_tensors(std::string name, std::vector<TensorToWrite> tensors, Metadata metadata = {});
  void add_tensors(std::string name, const Parameters& parameters);
  void add_state(const TrainingState& state);  // as state.json

  /// Writes `folder`, replacing what has that name. Where that fails, nothing has changed.
  void commit(const std::filesystem::path& folder) const;

 private:
  using Sink = std::function<void(std::span<const std::byte>)>;
  struct Source {
    std::string name;
    std::function<void(const Sink&)> write;
  };
  void add(std::string name, std::function<void(const Sink&)> write);

  std::vector<Source> sources_;
};

/// A checkpoint whose every part was compared with the manifest; to run a model, that of the optimiser by its size
/// only, where it is there.
class Checkpoint {
 public:
  /// `folder`: or the file of a model, which can only be run. Throws where it is not there, where a part is missing or
  /// was changed, naming both.
  static Checkpoint open(const std::filesystem::path& folder, Purpose purpose = Purpose::train);

  const std::filesystem::path& folder() const { return folder_; }  // or the file
  bool is_one_file() const { return file_ != nullptr; }
  std::string name() const { return folder_.filename().string(); }
  const std::vector<CheckpointPart>& parts() const { return parts_; }
  bool has(std::string_view part) const;
  std::string place_of(std::string_view part) const;  // for messages: "run/best/config.toml"

  // What is returned was compared once more: it is what was written, whatever happened to the disk since open().
  std::string text(std::string_view part) const;
  Safetensors tensors(std::string_view part) const;
  /// `loaded` is called after each parameter is filled, in the order of the file. The comparison ends with the last
  /// one: where it fails, some were filled.
  void load(std::string_view part, Parameters& parameters,
            const std::function<void(Parameter&, Dtype)>& loaded = {}) const;
  TrainingState state() const;

 private:
  static Checkpoint open_folder(const std::filesystem::path& folder, Purpose purpose);
  static Checkpoint open_file(const std::filesystem::path& path, Purpose purpose);
  void expect_part(std::string_view part) const;  // throws, naming the nearest
  const CheckpointPart& part(std::string_view name) const;
  Error damaged(const Error& error) const;
  std::vector<std::byte> bytes(std::string_view part) const;

  std::filesystem::path folder_;
  std::vector<CheckpointPart> parts_;
  std::shared_ptr<const ModelFile> file_;  // open, where it is one; else null
};

}  // namespace heed::file
