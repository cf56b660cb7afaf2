// What a line of a picture task names: a picture, and perhaps a question about it after a tab.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heed/data/picture.h"

namespace heed::data {

struct PictureQuestion {
  std::string_view picture;   // a file, scene:NUMBER, or data:image/png;base64,... (inline_picture.h)
  std::string_view question;  // empty: none
};
PictureQuestion cut_picture_question(std::string_view source);

/// Whether the picture is read from a file of that name: not a drawn scene, and not one inside the line.
bool is_file_name(std::string_view picture);

/// Whether this can only be meant as a picture: a file with the ending of PNG or JPEG, a scene, or a picture inside the
/// line.
bool names_picture(std::string_view name);

/// For readers: a picture inside the line by its type and size, everything else by its name.
std::string picture_label(std::string_view name);

/// The file, the drawing of a scene (scenes.h), or what is inside the line. As read_picture().
Picture picture_named(std::string_view name, PictureSize size = {});
PictureSize size_of_named(std::string_view name);

/// The source of a line of a table: the picture, and the question after a tab. A picture that a table names is beside
/// the table, unless it has an absolute path or is no file.
std::string source_in(const std::filesystem::path& table, const PictureQuestion& line);

}  // namespace heed::data
