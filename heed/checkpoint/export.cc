#include "heed/checkpoint/export.h"

#include <system_error>

#include "heed/base/error.h"
#include "heed/checkpoint/model_file.h"
#include "heed/checkpoint/save.h"

namespace heed::trained {

Dtype export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file, std::optional<Dtype> dtype) {
  const TrainedModel model = load_model(checkpoint);
  save_model(model, file, {.one_file = true, .dtype = dtype.value_or(model.stored)});
  return model.stored;
}

std::optional<Dtype> dtype_of(const std::string& precision, const char* option) {
  if (precision == kStored) return {};
  return value_of(kDtypes, precision, option);
}

void expect_replaceable(const std::filesystem::path& file, bool force) {
  std::error_code ignored;
  expect(!std::filesystem::is_directory(file, ignored), ErrorKind::cannot_write,
         "'{0}' is a folder: --output takes a file, such as {0}.heed", file.string());
  expect(force || !std::filesystem::is_regular_file(file, ignored) || file::is_model_file(file),
         ErrorKind::cannot_write, "'{}' already exists and is not a model: --force replaces it", file.string());
}

}  // namespace heed::trained
