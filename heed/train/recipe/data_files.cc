#include "heed/train/recipe/data_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/built_in_task.h"
#include "heed/data/labelled_folder.h"
#include "heed/data/lines.h"
#include "heed/task/all.h"
#include "heed/train/recipe/built_in.h"
#include "heed/train/recipe/sections.h"

namespace heed::recipe {

namespace {

namespace fs = std::filesystem;

void expect_file(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return;
  const std::string hint =
      path.find_first_of("./") == std::string::npos
          ? fmt::format(", and no built-in task of that name: {}", fmt::join(data::built_in_tasks().names(), ", "))
          : "";
  throw Error(ErrorKind::missing, fmt::format("there is no recipe or data '{}'{}", path, hint));
}

/// Recognised by its name, or by its first line that is no comment: a section. Anything but a plain file (a pipe) can
/// be read only once, and counts as a recipe.
bool is_recipe(const fs::path& path) {
  std::error_code ignored;
  if (data::is_labelled_folder(path)) return false;
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

/// pairs.tsv.gz -> pairs
std::string stem_of(const fs::path& path) {
  fs::path name = path.has_filename() ? path.filename() : path.parent_path().filename();  // a folder may end in /
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

void check_number(const std::vector<std::string>& files) {
  if (files.size() > 2)
    throw Error(
        fmt::format("train: {} files are too many; give a recipe, one file of pairs, or two files, SOURCE and TARGET",
                    files.size()));
  if (files.size() < 2) return;
  for (const std::string& file : files)
    if (fs::path(file).extension() == ".toml")
      throw Error(
          fmt::format("train: '{}' is a recipe, which names its own data (data.tsv, or data.source and data.target): "
                      "give it alone, and change the data with --set",
                      file));
}

/// The settings that name the files, in the words of the task.
void name_files(const std::vector<std::string>& files, const task::Task& task, task::DataRole role,
                std::vector<std::string>& settings) {
  if (files.empty()) return;
  const std::vector<std::string> keys = task.file_keys(std::ssize(files), role);
  if (keys.empty())
    throw Error(fmt::format("train: model.task = \"{}\" takes its {} from one file, not from {}: '{}' and '{}'",
                            task.name, role == task::DataRole::train ? "data" : "validation data", files.size(),
                            files[0], files[1]));
  for (size_t i = 0; i < files.size(); ++i) settings.push_back(keys[i] + "=" + files[i]);
}

/// Whether the data is not running text, which is what the weights were trained on: then it is for what their encoder
/// is trained for next.
bool is_for_its_encoder(const std::vector<std::string>& files, const Precedent& precedent) {
  if (precedent.resumed || !precedent.recipe.task().reads_running_text()) return false;
  if (files.size() > 1) return true;
  std::error_code ignored;
  if (files.empty() || !fs::is_regular_file(files.front(), ignored)) return false;
  constexpr int64_t kLooked = 100;
  data::LineReader lines(files.front());
  int64_t with_tab = 0;
  for (std::string line; lines.number() < kLooked && lines.next(line);)
    with_tab += line.find('\t') == std::string::npos ? 0 : 1;
  return with_tab > 0 && with_tab == lines.number();
}

/// An output folder named after the data, unless another one was set.
Understood with_folder(Understood understood, const std::vector<std::string>& data) {
  if (understood.recipe.output.folder.empty()) understood.recipe.output.folder = folder_for(data);
  understood.recipe.open.erase("output.folder");
  return understood;
}

/// Whether one of the settings begins so: "model.width=".
bool is_set(std::span<const std::string> settings, std::string_view beginning) {
  return std::ranges::any_of(settings, [&](const std::string& each) { return each.starts_with(beginning); });
}

}  // namespace

Recognised recognise(const fs::path& file) {
  // Each task is more special than those before it.
  for (const task::Task* task : std::views::reverse(task::all()))
    if (std::string why = task->recognises(file); !why.empty()) return {task, std::move(why)};
  return {task::all().front(), ""};
}

Understood recipe_of_files(const DataFiles& files, std::span<const std::string> settings, const Precedent* precedent) {
  if (files.recipe.empty() && files.valid.empty() && names_built_in_task(files.train))
    return with_folder({.recipe = recipe_for_task(files.train.front(), settings, precedent)}, files.train);
  for (const auto* side : {&files.train, &files.valid})
    for (const std::string& file : *side) expect_file(file);
  const bool alone = files.recipe.empty() && files.train.size() == 1 && is_recipe(files.train.front());
  const std::string& recipe_file = alone ? files.train.front() : files.recipe;
  const std::vector<std::string>& data = alone ? std::vector<std::string>() : files.train;
  check_number(data);
  check_number(files.valid);

  Understood understood;
  const std::string toml = recipe_file.empty() ? "" : read_recipe(recipe_file);
  const task::Task* task = &task_of(toml, settings, precedent);
  std::vector<std::string> all;
  const bool said = !file::peek(toml, "model.task", settings).empty();
  const bool encoder = !said && recipe_file.empty() && precedent && is_for_its_encoder(data, *precedent);
  const bool open = !said && (!precedent || encoder);
  if (encoder) task = task::all().front();  // pairs
  if (encoder && data.size() > 1) all.push_back(fmt::format("model.task={}", task->name));
  if (open && recipe_file.empty() && data.size() == 1) {
    const Recognised found = recognise(data.front());
    task = found.task;
    if (encoder && found.why.empty()) all.push_back(fmt::format("model.task={}", task->name));
    if (!found.why.empty()) {
      all.push_back(fmt::format("model.task={}", task->name));
      understood.seen = fmt::format("{}: learning {} (model.task = \"{}\"); if it is something else, set model.task",
                                    found.why, task->learns(), task->name);
    }
  }
  if (recipe_file.empty() && data.size() == 1 && (!precedent || encoder))
    for (std::string& setting : task->settings_of(data.front()))
      if (!is_set(settings, setting.substr(0, setting.find('=') + 1))) all.push_back(std::move(setting));
  name_files(data, *task, task::DataRole::train, all);
  name_files(files.valid, *task, task::DataRole::valid, all);
  all.insert(all.end(), settings.begin(), settings.end());
  const std::string name = recipe_file.empty() && !data.empty() ? data.front() : recipe_file;
  understood.recipe = parse(toml, name, all, precedent);
  return recipe_file.empty() && !data.empty() ? with_folder(std::move(understood), data) : understood;
}

}  // namespace heed::recipe
