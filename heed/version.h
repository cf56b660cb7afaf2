// The version of heed. Here it is written once: CMakeLists.txt reads it from here, and tests compare what Python says.
#pragma once

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 1
#define HEED_VERSION_PATCH 0
#define HEED_VERSION "0.1.0"

namespace heed {

/// Of the library that the program runs with; HEED_VERSION is that of the headers it was compiled with.
const char* version();

}  // namespace heed
