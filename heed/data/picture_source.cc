#include "heed/data/picture_source.h"

#include "heed/data/scenes.h"

namespace heed::data {

PictureQuestion cut_picture_question(std::string_view source) {
  const size_t tab = source.find('\t');
  if (tab == std::string_view::npos) return {source, {}};
  return {source.substr(0, tab), source.substr(tab + 1)};
}

Picture picture_named(std::string_view name, PictureSize size) {
  const auto number = scene_number(name);
  if (!number) return read_picture(std::filesystem::path(name), size);
  Picture drawn = draw(scene_of(*number));
  return size.height == 0 ? drawn : scaled(drawn, size);
}

PictureSize size_of_named(std::string_view name) {
  return scene_number(name) ? PictureSize{kScenePlaces * kScenePlacePixels, kScenePlaces * kScenePlacePixels}
                            : size_of_picture(std::filesystem::path(name));
}

std::string beside(const std::filesystem::path& table, std::string_view picture) {
  if (picture.empty() || scene_number(picture)) return std::string(picture);
  return (table.parent_path() / picture).string();  // an absolute path stays as it is
}

}  // namespace heed::data
