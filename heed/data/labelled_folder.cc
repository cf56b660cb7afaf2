#include "heed/data/labelled_folder.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/data/picture_source.h"
#include "heed/data/sound_source.h"
#include "heed/text/utf8.h"

namespace heed::data {

namespace {

namespace fs = std::filesystem;

bool is_example(const fs::path& file) {
  const std::string name = file.filename().string();
  return !name.starts_with('.') && (names_sound(name) || names_picture(name));
}

/// visit(path) of what is in the folder, in any order, until it returns false.
template <class Visit>
void each_in(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator all(folder, error), end; !error && all != end; all.increment(error))
    if (!visit(all->path())) return;
  expect(!error, ErrorKind::data, "cannot list the folder {}: {}", folder.string(), error.message());
}

std::vector<fs::path> examples_in(const fs::path& folder) {
  std::vector<fs::path> all;
  each_in(folder, [&](const fs::path& path) {
    stop_if_interrupted();
    if (is_example(path)) all.push_back(path);
    return true;
  });
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> all;
  each_in(folder, [&](const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) all.push_back(path);
    return true;
  });
  std::sort(all.begin(), all.end());
  return all;
}

bool has_example(const fs::path& folder) {
  bool found = false;
  each_in(folder, [&](const fs::path& path) { return !(found = is_example(path)); });
  return found;
}

}  // namespace

bool is_labelled_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  if (has_example(path)) return true;
  const std::vector<fs::path> folders = folders_in(path);
  return std::any_of(folders.begin(), folders.end(), has_example);
}

Pairs read_labelled_folder(const fs::path& path, Report& report) {
  Pairs pairs;
  int64_t number = 0;
  const auto add = [&](const fs::path& file, const std::string& label) {
    ++number;
    const std::string name = file.string();
    if (text::utf8_fault(name) != std::string_view::npos || name.find_first_of("\t\n") != std::string::npos)
      return report.drop(Fault::invalid_utf8, number, "the name of a file");
    pairs.add(name, label, number);
    report.keep();
  };
  const std::vector<fs::path> files = examples_in(path);
  for (const fs::path& file : files) {
    const std::string stem = file.stem().string();
    add(file, stem.substr(0, std::max<size_t>(stem.find('_'), 1)));
  }
  int64_t folders = 0;
  for (const fs::path& folder : folders_in(path)) {
    const std::vector<fs::path> inside = examples_in(folder);
    folders += inside.empty() ? 0 : 1;
    for (const fs::path& file : inside) add(file, folder.filename().string());
  }
  expect(files.empty() || folders == 0, ErrorKind::data,
         "{}: {} files stand beside {} folders of files: labels come either from the names of files (LABEL_*.wav) or "
         "from those of folders (LABEL/*.wav)",
         path.string(), files.size(), folders);
  const std::set<std::string> labels(pairs.target.begin(), pairs.target.end());
  expect(std::ssize(labels) < pairs.size(), ErrorKind::data,
         "{}: {} files have {} different labels: files are labelled by their names (LABEL_*.wav) or by their folders "
         "(LABEL/*.wav); for texts, write a table of a file, a tab and its text on each line",
         path.string(), pairs.size(), labels.size());
  return pairs;
}

}  // namespace heed::data
