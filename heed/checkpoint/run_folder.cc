#include "heed/checkpoint/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/base/nearest.h"

namespace heed::file {

namespace {

constexpr std::string_view kPrefix = "step-";
constexpr const char* kBest = "best.txt";
constexpr const char* kLock = ".lock";

/// The step of "step-000100"; none where the name is not exactly what name_of() gives.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return {};
  int64_t step = -1;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  return step >= 0 && RunFolder::name_of(step) == name ? std::optional(step) : std::nullopt;
}

std::optional<Checkpoint> try_open(const fs::path& folder, Purpose purpose, std::vector<Damage>& damaged) {
  try {
    return Checkpoint::open(folder, purpose);
  } catch (const Error& error) {
    damaged.push_back({folder.filename().string(), error.what()});
    return {};
  }
}

}  // namespace

std::string RunFolder::name_of(int64_t step) { return fmt::format("{}{:06}", kPrefix, step); }

// ------------------------------------------------------------------------------------------------------------- writing

Descriptor RunFolder::lock() const {
  make_folders(folder_);
  const fs::path path = folder_ / kLock;
  Descriptor file = open_lock(path);
  if (file.lock()) {
    // For the message of others: which process it is. It need not be on the disk, and must not fail if the disk is
    // full.
    const std::string process = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.number(), 0) != 0 || ::write(file.number(), process.data(), process.size()) < 0) errno = 0;
    return file;
  }
  if (errno != EWOULDBLOCK) return file;
  std::string owner;
  try {
    owner = read_text(path, 20);
  } catch (const Error&) {
    // The message can do without it.
  }
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  const bool known = !owner.empty() && owner.find_first_not_of("0123456789") == owner.npos;
  throw Error(
      ErrorKind::cannot_write,
      fmt::format("'{}' is in use: another training{} is writing to it. Wait until it ends, or choose another folder",
                  folder_.string(), known ? fmt::format(" (process {})", owner) : ""));
}

void RunFolder::clear() {
  const Descriptor ours = lock();
  for (const std::string& name : names()) remove_folder(folder_ / name);
  remove_file(folder_ / kBest);
  clean();
  good_.clear();
}

std::string RunFolder::save(const CheckpointWriter& writer, int64_t step) {
  expect(step >= 0, "'{}': a checkpoint cannot have the step {}", folder_.string(), step);
  clean();
  std::string name = name_of(step);
  good_.erase(name);
  writer.commit(folder_ / name);
  good_.insert(name);
  return name;
}

void RunFolder::mark_best(const std::string& name) {
  const std::vector<std::string> all = names();
  expect(std::find(all.begin(), all.end(), name) != all.end(),
         "'{}': there is no checkpoint '{}' that could be the best", folder_.string(), name);
  write_file(folder_ / kBest, name + "\n");
}

void RunFolder::keep(int64_t count) {
  expect(count >= 1, "'{}': at least 1 checkpoint must be kept, not {}", folder_.string(), count);
  const std::vector<std::string> all = names();
  const std::optional<std::string> best = best_name();
  std::vector<Damage> ignored;
  for (auto name = all.rbegin(); name != all.rend(); ++name) {
    if (count > 0) {
      if (good_.count(*name) || try_open(folder_ / *name, Purpose::train, ignored)) {
        good_.insert(*name);
        --count;
      }
    } else if (*name != best) {
      remove_folder(folder_ / *name);
      good_.erase(*name);
    }
  }
}

std::vector<std::string> RunFolder::clean() const { return clean_leftovers(folder_); }

// ------------------------------------------------------------------------------------------------------------- reading

std::vector<std::string> RunFolder::names() const {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    std::string name = entry.path().filename().string();
    if (const std::optional<int64_t> step = step_of(name)) found.emplace_back(*step, std::move(name));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> all;
  all.reserve(found.size());
  for (auto& [step, name] : found) all.push_back(std::move(name));
  return all;
}

std::optional<std::string> RunFolder::best_name() const {
  std::error_code ignored;
  if (!fs::exists(folder_ / kBest, ignored)) return {};
  std::string name = read_text(folder_ / kBest, 1000);
  while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.pop_back();
  expect(step_of(name).has_value(), ErrorKind::file, "'{}' must hold the name of a checkpoint, as {}, not '{}'",
         (folder_ / kBest).string(), name_of(100), name);
  return name;
}

RunFolder::Newest RunFolder::newest(Purpose purpose) const {
  Newest result;
  const std::vector<std::string> all = names();
  for (auto name = all.rbegin(); name != all.rend() && !result.checkpoint; ++name)
    result.checkpoint = try_open(folder_ / *name, purpose, result.damaged);
  return result;
}

Checkpoint RunFolder::open(std::string_view wanted, Purpose purpose) const {
  const std::vector<std::string> all = names();
  expect(!all.empty(), ErrorKind::file, "'{}' holds no checkpoint", folder_.string());
  std::string name(wanted);
  if (wanted == "last") name = all.back();
  if (wanted == "best") {
    const std::optional<std::string> best = best_name();
    expect(best.has_value(), ErrorKind::missing, "'{}': no checkpoint was marked as the best yet; the last one is '{}'",
           folder_.string(), all.back());
    name = *best;
  }
  const std::optional<int64_t> step = step_of(name);
  const bool there = std::find(all.begin(), all.end(), name) != all.end();
  // A mistyped name is meant to be another one; a checkpoint that was removed is not.
  expect(there || step, ErrorKind::missing, "'{}': there is no checkpoint '{}'; did you mean '{}'?", folder_.string(),
         name, nearest(name, all));
  try {
    return Checkpoint::open(folder_ / name, purpose);
  } catch (const Error& error) {
    // One that best.txt names must be there; one that the caller names need not.
    const ErrorKind kind = there || wanted == "best" ? ErrorKind::file : error.kind();
    std::vector<Damage> ignored;
    for (auto other = all.rbegin(); other != all.rend(); ++other)
      if (step_of(*other) < step && try_open(folder_ / *other, purpose, ignored))
        throw Error(kind, fmt::format("{}; the newest good one before it is '{}'", error.what(), *other));
    throw Error(kind, fmt::format("{}; there is no good one before it", error.what()));
  }
}

}  // namespace heed::file
