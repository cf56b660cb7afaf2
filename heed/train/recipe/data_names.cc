#include "heed/train/recipe/data_names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/data/data_folder.h"
#include "heed/text/utf8.h"

namespace heed::recipe {

namespace {

namespace fs = std::filesystem;

struct NamedFile {
  fs::path* file;
  std::vector<std::string_view> keys;  // of all tasks
};

std::vector<NamedFile> named_files(data::Options& d) {
  return {{&d.train.source, {"data.source", "data.text"}},
          {&d.train.target, {"data.target"}},
          {&d.train.tsv, {"data.tsv"}},
          {&d.valid.source, {"data.valid_source", "data.valid_text"}},
          {&d.valid.target, {"data.valid_target"}},
          {&d.valid.tsv, {"data.valid_tsv"}},
          {&d.vectors, {"data.vectors"}},
          {&d.alignments, {"data.alignments"}}};
}

bool is_overridden(std::span<const std::string> overrides, std::string_view key) {
  return std::any_of(overrides.begin(), overrides.end(), [&](const std::string& text) {
    return text.size() > key.size() && text.starts_with(key) && text[key.size()] == '=';
  });
}

}  // namespace

void find_data(data::Options& d, std::string_view file, std::span<const std::string> overrides) {
  const bool from_recipe = d.relative_to == data::kToRecipe && !is_overridden(overrides, "data.folder");
  const fs::path folder = from_recipe ? data::folder_beside(file, d.folder) : fs::path(d.folder);
  for (const auto& [name, keys] : named_files(d)) {
    const bool is_said =
        std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return is_overridden(overrides, key); });
    if (name->empty() || (from_recipe && is_said)) continue;
    *name = folder == "./" ? *name : folder / *name;
  }
  d.folder.clear();  // now part of the names
  d.relative_to = data::kToCurrent;
}

bool name_from(const fs::path& folder, data::Options& d) {
  const std::vector<NamedFile> files = named_files(d);
  const fs::path way = data::real_folder(".").lexically_relative(data::real_folder(folder));
  const bool any = std::any_of(files.begin(), files.end(),
                               [](const NamedFile& each) { return !each.file->empty() && each.file->is_relative(); });
  // A recipe is UTF-8: a folder on the way whose name is not cannot be written, and all stays as it was.
  if (!any || way.empty() || text::utf8_fault(way.string()) != std::string::npos) return false;
  d.folder = way.string();
  d.relative_to = data::kToRecipe;
  return true;
}

}  // namespace heed::recipe
