#include "heed/checkpoint/checkpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/base/part_name.h"
#include "heed/base/sha256.h"
#include "heed/checkpoint/model_file.h"
#include "heed/checkpoint/tensor_stream.h"
#include "heed/checkpoint/weights.h"

namespace heed::file {

namespace {

constexpr const char* kManifest = "MANIFEST.json";
constexpr const char* kState = "state.json";
constexpr uint64_t kMaxManifest = 16 << 20;
constexpr uint64_t kMaxText = 1 << 30;  // of a recipe, a state or a vocabulary

void expect_size(const CheckpointPart& part, uint64_t size) {
  expect(size == part.size, ErrorKind::file, "{} has {} bytes instead of {}", part.name, size, part.size);
}

void expect_same(const CheckpointPart& part, uint64_t size, const std::function<std::string()>& hash) {
  expect_size(part, size);
  expect(hash() == part.sha256, ErrorKind::file, "{} has changed: its SHA-256 is not that of the manifest", part.name);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- writing

void CheckpointWriter::add(std::string name, std::function<void(const Sink&)> write) {
  expect(is_part_name(name) && name != kManifest,
         "a part of a checkpoint cannot have the name '{}'; use letters, "
         "digits, '.', '_' and '-'",
         name);
  for (const Source& source : sources_)
    expect(source.name != name, "a checkpoint cannot have two parts with the name '{}'", name);
  sources_.push_back({std::move(name), std::move(write)});
}

void CheckpointWriter::add_text(std::string name, std::string text) {
  add(std::move(name), [text = std::move(text)](const Sink& sink) { sink(std::as_bytes(std::span(text))); });
}

void CheckpointWriter::add_tensors(std::string name, std::vector<TensorToWrite> tensors, Metadata metadata) {
  add(std::move(name), [tensors = std::move(tensors), metadata = std::move(metadata)](const Sink& sink) {
    write_safetensors(tensors, metadata, sink);
  });
}

void CheckpointWriter::add_tensors(std::string name, const Parameters& parameters) {
  add_tensors(std::move(name), tensors_of(parameters));
}

void CheckpointWriter::add_state(const TrainingState& state) { add_text(kState, state.json()); }

void CheckpointWriter::commit(const std::filesystem::path& folder) const {
  FolderWriter writer(folder);
  std::vector<CheckpointPart> parts;
  for (const Source& source : sources_) {
    OutputFile file = writer.create(source.name);
    Sha256 hash;
    uint64_t size = 0;
    source.write([&](std::span<const std::byte> piece) {
      hash.add(piece);
      size += piece.size();
      file.write(piece);
    });
    file.finish();
    parts.push_back({source.name, size, hash.hex()});
  }
  OutputFile manifest = writer.create(kManifest);
  manifest.write(manifest_text(parts));
  manifest.finish();
  writer.commit();
}

// ------------------------------------------------------------------------------------------------------------- reading

Checkpoint Checkpoint::open(const std::filesystem::path& folder, Purpose purpose) {
  std::error_code ignored;
  return fs::exists(folder, ignored) && !fs::is_directory(folder, ignored) ? open_file(folder, purpose)
                                                                           : open_folder(folder, purpose);
}

Checkpoint Checkpoint::open_folder(const std::filesystem::path& folder, Purpose purpose) {
  Checkpoint checkpoint;
  // "run/best/" is called "best".
  checkpoint.folder_ = folder.has_filename() ? folder : folder.parent_path();
  std::error_code ignored;
  expect(fs::is_directory(folder, ignored), ErrorKind::missing, "there is no checkpoint '{}': no such folder",
         folder.string());
  expect(fs::exists(folder / kManifest, ignored), ErrorKind::file, "'{}' is no checkpoint: it has no {}",
         folder.string(), kManifest);
  try {
    for (const CheckpointPart& part : parse_manifest(read_text(folder / kManifest, kMaxManifest))) {
      const fs::path path = folder / part.name;
      const bool optimiser = part.name == kOptimiserPart;
      const bool there = fs::exists(path, ignored);
      if (!there && optimiser && purpose == Purpose::run) continue;
      expect(there, ErrorKind::file, "{} is missing{}", part.name,
             optimiser ? "; without it the model can be run, but not trained on" : "");
      const uint64_t size = InputFile(path).size();
      if (purpose == Purpose::run && optimiser)
        expect_size(part, size);
      else
        expect_same(part, size, [&] { return sha256_of_file(path); });
      checkpoint.parts_.push_back(part);
    }
  } catch (const Error& error) {
    throw checkpoint.damaged(error);
  }
  return checkpoint;
}

Checkpoint Checkpoint::open_file(const std::filesystem::path& path, Purpose purpose) {
  Checkpoint checkpoint;
  checkpoint.folder_ = path;
  checkpoint.file_ = std::make_shared<const ModelFile>(path);
  expect(purpose == Purpose::run, ErrorKind::file,
         "'{}' holds a model to run, without the {} that a training goes on from", path.string(), kOptimiserPart);
  checkpoint.parts_.push_back({kWeightsPart, checkpoint.file_->size(), ""});
  for (const auto& [name, text] : checkpoint.file_->texts()) checkpoint.parts_.push_back({name, text.size(), ""});
  return checkpoint;
}

bool Checkpoint::has(std::string_view part) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const CheckpointPart& each) { return each.name == part; });
}

std::string Checkpoint::place_of(std::string_view part) const {
  if (!file_) return (folder_ / part).string();
  return part == kWeightsPart ? folder_.string() : fmt::format("{}: {}", folder_.string(), part);
}

void Checkpoint::expect_part(std::string_view name) const {
  if (has(name)) return;
  std::vector<std::string> names;
  for (const CheckpointPart& part : parts_) names.push_back(part.name);
  expect(!names.empty(), ErrorKind::file, "checkpoint '{}' has no part '{}': it is empty", folder_.string(), name);
  throw Error(ErrorKind::file, fmt::format("checkpoint '{}' has no part '{}'; did you mean '{}'?", folder_.string(),
                                           name, nearest(name, names)));
}

const CheckpointPart& Checkpoint::part(std::string_view name) const {
  return *std::find_if(parts_.begin(), parts_.end(), [&](const auto& each) { return each.name == name; });
}

Error Checkpoint::damaged(const Error& error) const {
  return {ErrorKind::file, fmt::format("checkpoint '{}' is damaged: {}", folder_.string(), error.what())};
}

std::vector<std::byte> Checkpoint::bytes(std::string_view name) const {
  const CheckpointPart& expected = part(name);
  try {
    InputFile file(folder_ / expected.name);
    expect_size(expected, file.size());  // before there is memory for it
    std::vector<std::byte> content(file.size());
    file.read(content);
    expect_same(expected, content.size(), [&] { return sha256(content); });
    return content;
  } catch (const Error& error) {
    throw damaged(error);
  }
}

std::string Checkpoint::text(std::string_view part) const {
  expect_part(part);
  if (file_) {
    const auto found = file_->texts().find(part);
    expect(found != file_->texts().end(), "'{}': {} is no text", folder_.string(), part);
    return found->second;
  }
  for (const CheckpointPart& each : parts_)
    expect(each.name != part || each.size <= kMaxText, ErrorKind::file,
           "checkpoint '{}': {} has {} bytes, and {} is the most", folder_.string(), part, each.size, kMaxText);
  const std::vector<std::byte> content = bytes(part);
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

Safetensors Checkpoint::tensors(std::string_view part) const {
  expect_part(part);
  if (!file_) return {bytes(part), place_of(part)};
  expect(part == kWeightsPart, "'{}': {} holds no tensors", folder_.string(), part);
  return file_->weights();
}

void Checkpoint::load(std::string_view name, Parameters& parameters,
                      const std::function<void(Parameter&, Dtype)>& loaded) const {
  expect_part(name);
  if (file_) {
    expect(name == kWeightsPart, "'{}': {} holds no tensors", folder_.string(), name);
    return file_->load(parameters, loaded);
  }
  const CheckpointPart& expected = part(name);
  const fs::path path = folder_ / expected.name;
  // Whatever goes wrong in a file that is not what was written, that is the reason.
  const auto expect_written = [&](const std::function<std::string()>& hash) {
    try {
      expect_same(expected, InputFile(path).size(), hash);
    } catch (const Error& error) {
      throw damaged(error);
    }
  };
  Sha256 hash;
  try {
    InputFile file(path);
    TensorStream stream(file, place_of(name), [&](std::span<const std::byte> piece) { hash.add(piece); });
    file::load(stream, parameters, loaded);
  } catch (const Error&) {
    expect_written([&] { return sha256_of_file(path); });
    throw;
  }
  expect_written([&] { return hash.hex(); });
}

TrainingState Checkpoint::state() const { return TrainingState::parse(text(kState), place_of(kState)); }

}  // namespace heed::file
