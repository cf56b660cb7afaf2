#if HEED_PANGO

#include "cli/pango.h"

#include <dlfcn.h>

#include "heed/base/error.h"

namespace heed::cli {

namespace {

Pango load() {
  constexpr const char* kLibrary = "libpangocairo-1.0.so.0";  // Pango, Cairo and GObject come with it
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  expect(
      library != nullptr, ErrorKind::missing,
      "Pango, which draws text in PNG files, is not on this machine ({}): --svg and --html work without it; on Debian: "
      "apt-get install libpangocairo-1.0-0 fonts-dejavu-core",
      kLibrary);
  Pango found{};
#define HEED_FIND(name) found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name))
  HEED_PANGO_FUNCTIONS(HEED_FIND);
#undef HEED_FIND
  return found;
}

}  // namespace

const Pango& pango() {
  static const Pango loaded = load();
  return loaded;
}

}  // namespace heed::cli

#endif
