#include "cli/overlay.h"

#include <fmt/format.h>

#include <filesystem>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/data/overlay.h"
#include "heed/data/picture_source.h"

namespace heed::cli {

void write_overlay(const std::string& folder, int64_t number, std::string_view name,
                   const predict::Prediction& prediction) {
  if (prediction.nbest.empty()) return;
  const data::CellMap map = {prediction.map_rows, prediction.map_columns};
  expect(map.rows > 0, "--overlay is for models of pictures (model.task = \"image\")");
  // A large picture is read smaller: the panels are small.
  constexpr int64_t kLargest = 1024;
  data::PictureSize size = data::size_of_named(name);
  const int64_t side = std::max(size.height, size.width);
  if (side > kLargest)
    size = {std::max<int64_t>(1, size.height * kLargest / side), std::max<int64_t>(1, size.width * kLargest / side)};
  const data::Picture shown = data::panels(data::picture_named(name, size), prediction.nbest.front().alignment, map);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorKind::cannot_write, fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  file::write_file(std::filesystem::path(folder) / fmt::format("{}.png", number), data::png_of(shown));
}

}  // namespace heed::cli
