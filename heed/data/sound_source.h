// What a line of a speech task names: a recording.
#pragma once

#include <string>
#include <string_view>

namespace heed::data {

/// Whether this can only be meant as a recording: a file with the ending of WAV, FLAC or NumPy's arrays (features), or
/// one inside the line.
bool names_sound(std::string_view name);

/// Whether it begins as a recording inside the line, data:audio/...; it may still be broken. Such a name never reaches
/// the file system.
bool is_inline_sound(std::string_view name);

/// For readers: one inside the line by its type and size, everything else by its name.
std::string sound_label(std::string_view name);

}  // namespace heed::data
