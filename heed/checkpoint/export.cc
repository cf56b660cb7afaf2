#include "heed/checkpoint/export.h"

#include <system_error>

#include "heed/base/error.h"
#include "heed/checkpoint/model_file.h"
#include "heed/checkpoint/save.h"

namespace heed::trained {

void export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file, Dtype dtype) {
  save_model(load_model(checkpoint), file, {.one_file = true, .dtype = dtype});
}

void expect_replaceable(const std::filesystem::path& file, bool force) {
  std::error_code ignored;
  expect(!std::filesystem::is_directory(file, ignored), ErrorKind::cannot_write,
         "'{0}' is a folder: --output takes a file, such as {0}.heed", file.string());
  expect(force || !std::filesystem::is_regular_file(file, ignored) || file::is_model_file(file),
         ErrorKind::cannot_write, "'{}' already exists and is not a model: --force replaces it", file.string());
}

}  // namespace heed::trained
