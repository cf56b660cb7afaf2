#include "heed/data/picture_source.h"

#include "heed/data/inline_picture.h"
#include "heed/data/scenes.h"

namespace heed::data {

PictureQuestion cut_picture_question(std::string_view source) {
  const size_t tab = source.find('\t');
  if (tab == std::string_view::npos) return {source, {}};
  return {source.substr(0, tab), source.substr(tab + 1)};
}

bool is_file_name(std::string_view picture) { return !scene_number(picture) && !is_inline_picture(picture); }

bool names_picture(std::string_view name) {
  if (!is_file_name(name)) return true;
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::string picture_label(std::string_view name) {
  return is_inline_picture(name) ? inline_picture_label(name) : std::string(name);
}

Picture picture_named(std::string_view name, PictureSize size) {
  if (is_inline_picture(name)) return read_picture(inline_picture(name), size);
  const auto number = scene_number(name);
  if (!number) return read_picture(std::filesystem::path(name), size);
  Picture drawn = draw(scene_of(*number));
  return size.height == 0 ? drawn : scaled(drawn, size);
}

PictureSize size_of_named(std::string_view name) {
  if (is_inline_picture(name)) return size_of_picture(inline_picture(name));
  return scene_number(name) ? PictureSize{kScenePlaces * kScenePlacePixels, kScenePlaces * kScenePlacePixels}
                            : size_of_picture(std::filesystem::path(name));
}

std::string source_in(const std::filesystem::path& table, const PictureQuestion& line) {
  std::string source(line.picture);
  if (is_file_name(line.picture)) source = (table.parent_path() / line.picture).string();  // absolute ones stay
  if (!line.question.empty()) source.append(1, '\t').append(line.question);
  return source;
}

}  // namespace heed::data
