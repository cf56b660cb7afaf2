// Weights of the cells of a picture, laid over it: where a model looked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/picture.h"

namespace heed::data {

/// A map of [rows, columns] cells over a whole picture.
struct CellMap {
  int64_t rows = 0, columns = 0;
};

/// The picture, darkened where the weights [cells] are small beside the largest, whose cell has a frame.
Picture lay_over(const Picture& picture, std::span<const float> weights, CellMap map);

/// The picture alone, and once for each row of weights; from left to right, in rows of at most six. The longer side of
/// each is about `longest` pixels.
Picture panels(const Picture& picture, const std::vector<std::vector<float>>& weights, CellMap map,
               int64_t longest = 192);

}  // namespace heed::data
