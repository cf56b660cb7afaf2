// A folder of recordings or pictures as pairs: each file with what its name, or that of its folder, says of it.
#pragma once

#include <filesystem>

#include "heed/data/pairs.h"

namespace heed::data {

/// Whether it is a folder with recordings (sound_source.h) or pictures (picture_source.h), or with folders of them.
bool is_labelled_folder(const std::filesystem::path& path);

/// Files with their labels, by name. Of folders of files, the label is the name of the folder: yes/1.wav is "yes". Of a
/// folder of files alone, it is what comes before the first underscore of a name: 7_jackson_3.wav is "7".
/// Throws if there are both, or if files have no labels that repeat.
Pairs read_labelled_folder(const std::filesystem::path& path, Report& report);

}  // namespace heed::data
