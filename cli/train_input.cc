#include "cli/train_input.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "cli/terminal.h"
#include "heed/data/lines.h"
#include "heed/file/fields.h"
#include "heed/task/label_texts.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

void expect_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw Error(ErrorKind::missing, fmt::format("there is no recipe or data '{}'", path));
}

/// Recognised by its name, or by its first line that is no comment: a section. Anything but a plain file (a pipe) can
/// be read only once, and counts as a recipe.
bool is_recipe(const fs::path& path) {
  std::error_code ignored;
  if (path.extension() == ".toml" || !fs::is_regular_file(path, ignored)) return true;
  if (path.extension() == ".tsv") return false;
  std::ifstream file(path);
  constexpr std::streamsize kLongest = 4096;
  for (std::string line(kLongest, '\0'); file.getline(line.data(), kLongest); line.assign(kLongest, '\0')) {
    const std::string_view text(line.c_str());
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || text[begin] == '#') continue;
    const std::string_view rest = text.substr(begin);
    if (rest.find('\t') != std::string_view::npos) return false;
    for (const char* section : {"[data]", "[model]", "[attention]", "[train]", "[stop]", "[validate]", "[output]"})
      if (rest.starts_with(section)) return true;
    return false;
  }
  return false;
}

/// Running text: a file that is not named as a table, and whose first lines have no tab.
bool is_text(const fs::path& path, const std::vector<std::string>& settings) {
  if (const std::string task = file::peek("", "model.task", settings); !task.empty()) return task == "next_token";
  fs::path name = path;
  if (name.extension() == ".gz") name = name.stem();
  if (name.extension() != ".txt" && name.extension() != ".text") return false;
  constexpr int64_t kLooked = 100;
  data::LineReader lines(path);
  for (std::string line; lines.number() < kLooked && lines.next(line);)
    if (line.find('\t') != std::string::npos) return false;
  return true;
}

/// pairs.tsv.gz -> pairs
std::string stem_of(const fs::path& path) {
  fs::path name = path.filename();
  while (name.has_extension() && name.has_stem()) name = name.stem();
  return name.string();
}

/// words.tsv -> words-model; train.en and train.de -> en-de-model; a.txt and b.txt -> a-b-model.
std::string folder_for(const std::vector<std::string>& files) {
  if (files.size() == 1) return stem_of(files.front()) + "-model";
  fs::path first = fs::path(files[0]).filename(), second = fs::path(files[1]).filename();
  for (fs::path* each : {&first, &second})
    if (each->extension() == ".gz") *each = each->stem();
  const bool by_extension = first.stem() == second.stem() && first.has_extension() && second.has_extension();
  return by_extension
             ? fmt::format("{}-{}-model", first.extension().string().substr(1), second.extension().string().substr(1))
             : fmt::format("{}-{}-model", stem_of(first), stem_of(second));
}

}  // namespace

recipe::Recipe recipe_of_files(const std::vector<std::string>& files, const std::vector<std::string>& settings) {
  for (const std::string& file : files) expect_file(file);
  if (files.size() == 1 && is_recipe(files.front())) return recipe::read(files.front(), settings);
  if (files.size() > 2)
    throw Error(
        fmt::format("train: {} files are too many; give a recipe, one file of pairs, or two files, SOURCE and TARGET",
                    files.size()));
  if (files.size() == 2)
    for (const std::string& file : files)
      if (fs::path(file).extension() == ".toml")
        throw Error(
            fmt::format("train: '{}' is a recipe, which names its own data (data.tsv, or data.source and data.target): "
                        "give it alone, and change the data with --set",
                        file));
  std::vector<std::string> all;
  const bool task_given = !file::peek("", "model.task", settings).empty();
  if (files.size() == 1 && is_text(files[0], settings)) {
    all = {"model.task=next_token", "data.text=" + files[0]};
    if (!task_given)
      note(fmt::format(
          "heed: '{}' has no tabs: learning to go on with its text (model.task = next_token); pairs need a tab and a "
          "target after each source\n",
          files[0]));
  } else if (files.size() == 1) {
    all = {"data.tsv=" + files[0]};
    if (const std::string why = task_given ? "" : task::looks_like_labels(files[0]); !why.empty()) {
      note(
          fmt::format("heed: {}: learning labels (model.task = label); to learn pairs: --set model.task=pairs\n", why));
      all.emplace_back("model.task=label");
    }
  } else {
    all = {"data.source=" + files[0], "data.target=" + files[1]};
  }
  all.insert(all.end(), settings.begin(), settings.end());
  recipe::Recipe recipe = recipe::parse("", files.front(), all);
  if (recipe.output.folder.empty()) recipe.output.folder = folder_for(files);
  recipe.open.erase("output.folder");
  return recipe;
}

}  // namespace heed::cli
