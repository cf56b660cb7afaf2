#include "heed/data/sound_source.h"

#include <filesystem>

#include "heed/data/inline_picture.h"

namespace heed::data {

bool names_sound(std::string_view name) {
  if (is_inline_sound(name)) return true;
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".wav" || ending == ".wave" || ending == ".flac" || ending == ".npy";
}

bool is_inline_sound(std::string_view name) { return name.starts_with("data:"); }

std::string sound_label(std::string_view name) {
  return is_inline_sound(name) ? inline_picture_label(name) : std::string(name);
}

}  // namespace heed::data
