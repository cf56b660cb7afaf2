// The files to train with, as Python hands them over.
#pragma once

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "heed/train/recipe/data_files.h"

namespace heed::python {

/// From {"train": [..], "valid": [..], "recipe": ..}.
inline recipe::DataFiles data_files(const py::dict& files) {
  using Names = std::vector<std::string>;
  return {.train = files["train"].cast<Names>(),
          .valid = files["valid"].cast<Names>(),
          .recipe = files["recipe"].cast<std::string>()};
}

}  // namespace heed::python
