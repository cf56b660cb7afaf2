#include "heed/imports/importer.h"

#include <fmt/format.h>

#include <system_error>

#include "heed/base/error.h"

namespace heed::imports {

const std::vector<const Importer*>& all() {
#define HEED_ADDRESS(name) &name##_importer,
  static const std::vector<const Importer*> importers = {HEED_IMPORTERS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return importers;
}

Imported read(const std::filesystem::path& path, const ImportOptions& options, const Importer** which) {
  std::error_code ignored;
  expect(std::filesystem::exists(path, ignored), ErrorKind::missing, "'{}' does not exist", path.string());
  std::string known;
  for (const Importer* importer : all()) {
    if (importer->recognises(path)) {
      if (which) *which = importer;
      return importer->read(path, options);
    }
    known += fmt::format("\n  {}: {}", importer->name, importer->meaning);
  }
  throw Error(ErrorKind::file,
              fmt::format("'{}' is in none of the formats that can be imported:{}", path.string(), known));
}

}  // namespace heed::imports
