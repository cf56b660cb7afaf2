#include "heed/distill/parts.h"

#include <fmt/format.h>

#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/sha256.h"

namespace heed::distill {

namespace {

constexpr char kTaught = '+', kKept = '=';  // before each target

/// Takes a line from the front of the text.
std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::filesystem::path Parts::path_of(int64_t first) const { return folder_ / fmt::format("{:09}", first); }

/// The work, the checksum of the rest, and the targets: a line each.
void Parts::save(int64_t first, const std::vector<Target>& targets) const {
  std::string lines;
  for (const Target& target : targets) lines += fmt::format("{}{}\n", target.kept ? kKept : kTaught, target.text);
  file::make_folders(folder_);
  file::write_file(path_of(first), fmt::format("{}\n{}\n{}", work_, file::sha256(lines), lines));
}

std::optional<std::vector<Target>> Parts::load(int64_t first, int64_t count) const {
  const std::filesystem::path path = path_of(first);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const std::string text = file::read_text(path);
  std::string_view rest = text;
  const std::string_view work = next_line(rest), checksum = next_line(rest);
  expect(work == work_, ErrorKind::cannot_write,
         "'{}' holds targets of another model, with other options or for other data: use another folder, or remove it",
         folder_.parent_path().string());
  if (checksum != file::sha256(rest)) return {};
  std::vector<Target> targets;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.empty()) return {};
    targets.push_back({std::string(line.substr(1)), line.front() == kKept});
  }
  if (std::ssize(targets) != count) return {};
  return targets;
}

void Parts::remove() const {
  std::error_code ignored;
  if (std::filesystem::exists(folder_, ignored)) file::remove_folder(folder_);
}

}  // namespace heed::distill
