#include "heed/train/pairs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/train/session.h"

namespace heed::train {

namespace {

namespace fs = std::filesystem;

std::string lines_of(std::span<const task::TextPair> pairs, std::string_view name) {
  std::string lines;
  const auto expect_line = [&](size_t i, const char* side, const std::string& text) {
    expect(text.find_first_of("\t\n\r") == std::string::npos,
           "{}[{}]: the {} holds a tab or a line break, and a text is one line: '{}'", name, i, side, text);
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    expect_line(i, "source", pairs[i].source);
    expect_line(i, "target", pairs[i].target);
    lines += pairs[i].source + '\t' + pairs[i].target + '\n';
  }
  return lines;
}

bool holds(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == text.size() &&
         file::read_text(path, text.size()) == text;
}

fs::path write(const std::string& text, const fs::path& folder, std::string_view name, const char* ending) {
  expect(!text.empty(), "{}: expected some, got none", name);
  std::string file(name);
  std::replace(file.begin(), file.end(), ' ', '_');
  const fs::path path = folder / (file + ending);
  try {
    fs::create_directories(folder);
    if (!holds(path, text)) file::write_file(path, text);
  } catch (const fs::filesystem_error& error) {
    throw SaveError(fmt::format("train: '{}' cannot be written: {}", path.string(), error.code().message()));
  } catch (const Error& error) {
    throw SaveError(error.what());
  }
  return path;
}

}  // namespace

fs::path write_pairs(std::span<const task::TextPair> pairs, const fs::path& folder, std::string_view name) {
  return write(lines_of(pairs, name), folder, name, ".tsv");
}

fs::path write_text(const std::string& text, const fs::path& folder, std::string_view name) {
  return write(text, folder, name, ".txt");
}

}  // namespace heed::train
