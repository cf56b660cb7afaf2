// Files and folders that are there completely or not at all, whenever the power goes.
//
// What is written stands aside as ".name.partial-<process>" until every byte is on the disk; then one rename gives it
// its name. A writer that is killed leaves such a name behind; clean_leftovers() removes it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/disk.h"

namespace heed::file {

/// Writes or replaces a file. Where that fails, the old one stays as it was. What a symbolic link leads to is replaced,
/// not the link; a device, a pipe and what standard output goes to are written through.
void write_file(const fs::path& path, std::string_view text);
void write_file(const fs::path& path, const std::function<void(OutputFile&)>& fill);

/// A folder that is being written.
class FolderWriter {
 public:
  explicit FolderWriter(fs::path target);
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;
  ~FolderWriter();  // nothing stays of a folder that was not committed

  OutputFile create(const std::string& name) const;  // a file in it; call finish() when it is complete

  /// Gives it its name. A folder that has the name already is replaced, at once where the file system can exchange
  /// names; elsewhere (some network disks) there is a moment in which neither has it.
  void commit();

 private:
  fs::path target_, partial_;
  Descriptor lock_;  // says to others that this is no leftover
};

/// Removes a folder: first its name, at once, then what is in it.
void remove_folder(const fs::path& path);

/// Removes what interrupted writers and removals left in `folder`, and tells the names. What is still being written
/// stays.
std::vector<std::string> clean_leftovers(const fs::path& folder);

}  // namespace heed::file
