// The version of heed, defined only here: CMakeLists.txt reads it, and tests compare it with Python's.
#pragma once

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 1
#define HEED_VERSION_PATCH 0
#define HEED_VERSION "0.1.0"

namespace heed {

/// Version of the running library; HEED_VERSION is that of the headers the program was compiled with.
const char* version();

}  // namespace heed
