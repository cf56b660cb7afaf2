#include "heed/base/atomic.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "heed/base/error.h"

namespace heed::file {

namespace {

void expect_name(const fs::path& target) {
  expect(target.has_filename() && target.filename() != "." && target.filename() != "..",
         "cannot write '{}': a name is needed", target.string());
}

/// ".name.<what>-<process>" beside `target`, with a number after it if that name is taken: in a container every process
/// may have the same id as one that was killed before.
fs::path aside(const fs::path& target, std::string_view what) {
  expect_name(target);
  const std::string name = fmt::format(".{}.{}-{}", target.filename().string(), what, ::getpid());
  fs::path path = folder_of(target) / name;
  std::error_code ignored;
  for (int i = 1; fs::exists(fs::symlink_status(path, ignored)); ++i)
    path = folder_of(target) / fmt::format("{}-{}", name, i);
  return path;
}

void remove_quietly(const fs::path& path) {
  std::error_code ignored;  // what stays is a leftover for the next clean_leftovers()
  if (disk_fault() && disk_fault()("remove", path) != 0) return;
  fs::remove_all(path, ignored);
}

struct Leftover {
  std::string owner;  // the name that it would have had, or had
  std::string what;   // as in aside()
};

/// Takes a name of aside() apart; none where it is another one.
std::optional<Leftover> leftover(const std::string& name) {
  for (const char* what : {"partial", "removed", "replaced"}) {
    const std::string middle = fmt::format(".{}-", what);
    const size_t at = name.rfind(middle);
    if (at == std::string::npos || at < 2 || name.front() != '.') continue;
    const std::string process = name.substr(at + middle.size());
    if (!process.empty() && process.find_first_not_of("0123456789-") == std::string::npos)
      return Leftover{name.substr(1, at - 1), what};
  }
  return {};
}

}  // namespace

// --------------------------------------------------------------------------------------------------------------- files

namespace {

/// The target of a symbolic link, even if it does not exist yet: the target is written, and the link stays.
fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::error_code error;
  for (int i = 0; i <= kMostLinks; ++i) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) return path;
    path = folder_of(path) / to;  // `to` alone if it is absolute
  }
  throw Error(ErrorKind::cannot_write, fmt::format("cannot write '{}': its symbolic links form a loop", path.string()));
}

}  // namespace

void write_file(const fs::path& name, const std::function<void(OutputFile&)>& fill) {
  expect_name(name);
  if (std::optional<OutputFile> there = OutputFile::through(name)) {
    fill(*there);
    return there->finish();
  }
  const fs::path path = behind_links(name);
  const fs::path partial = aside(path, "partial");
  OutputFile file(partial);
  try {
    file.descriptor().lock();
    fill(file);
    file.finish();
    change_name(partial, path);
  } catch (...) {
    remove_quietly(partial);
    throw;
  }
  sync_folder(folder_of(path));
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, [&](OutputFile& file) { file.write(text); });
}

// ------------------------------------------------------------------------------------------------------------- folders

FolderWriter::FolderWriter(fs::path target) : target_(std::move(target)) {
  make_folders(folder_of(target_));
  // Between the making and the lock another process may have taken the folder for a leftover: then again.
  for (bool ours = false; !ours;) {
    partial_ = aside(target_, "partial");
    make_folder(partial_);
    lock_ = open_folder(partial_);
    if (!lock_) continue;
    // On a file system without locks, no other process gets one either.
    if (!lock_.lock() && errno == EWOULDBLOCK) continue;
    struct stat about {};
    ours = ::fstat(lock_.number(), &about) != 0 || about.st_nlink > 0;
  }
}

FolderWriter::~FolderWriter() {
  if (!partial_.empty()) remove_quietly(partial_);
}

OutputFile FolderWriter::create(const std::string& name) const { return OutputFile(partial_ / name); }

void FolderWriter::commit() {
  sync_folder(partial_);
  std::error_code ignored;
  const bool replaces = fs::exists(fs::symlink_status(target_, ignored));
  if (!replaces) {
    change_name(partial_, target_);
    partial_.clear();
  } else if (!swap_names(partial_, target_)) {
    const fs::path old = aside(target_, "replaced");
    change_name(target_, old);
    try {
      change_name(partial_, target_);
    } catch (...) {
      change_name(old, target_);
      throw;
    }
    partial_ = old;
  }
  sync_folder(folder_of(target_));
  // Only now, with the new one safe, remove what it replaced.
  if (replaces) remove_quietly(std::exchange(partial_, {}));
}

void remove_folder(const fs::path& path) {
  const fs::path removed = aside(path, "removed");
  change_name(path, removed);
  remove_quietly(removed);
}

std::vector<std::string> clean_leftovers(const fs::path& folder) {
  std::vector<std::string> removed;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::optional<Leftover> found = leftover(name);
    if (!found) continue;
    const Descriptor descriptor(::open(entry.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!descriptor || !descriptor.lock()) continue;
    // Its writer was killed before the new one had the name: the old one takes it back.
    const fs::path owner = folder / found->owner;
    if (found->what == "replaced" && !fs::exists(fs::symlink_status(owner, ignored))) {
      change_name(entry.path(), owner);
      continue;
    }
    remove_quietly(entry.path());
    removed.push_back(name);
  }
  std::sort(removed.begin(), removed.end());
  return removed;
}

}  // namespace heed::file
