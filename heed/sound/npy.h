// Frames that another program computed, as NumPy saves them: numpy.save("frames.npy", frames).
#pragma once

#include <string_view>

#include "heed/sound/log_mel.h"

namespace heed::sound {

bool is_npy(std::string_view bytes);

/// An array [rows, columns] of float32 or float64, row by row. Throws Error without a name if it is anything else,
/// damaged, cut short, empty, or has a number that is not finite.
Frames npy_frames(std::string_view bytes);

}  // namespace heed::sound
