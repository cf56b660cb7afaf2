// heed predict --alignments=picture: what each output attended to, drawn below it or in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/pictures.h"
#include "cli/terminal.h"
#include "heed/predict/predictor.h"

namespace heed::cli {

struct AlignmentPictureOptions {
  std::string folder = {};  // FOLDER/LINE.svg; empty: on the terminal
  std::string format = "svg";
  double scale = kUsualScale;
};

class AlignmentPictures {
 public:
  /// Throws if the model has no alignments, or a terminal cannot show them, or PNG files cannot be drawn.
  AlignmentPictures(const AlignmentPictureOptions& options, const predict::Predictor& predictor);

  /// Of the best output for a line: writes the file; or returns what to print below the output. Nothing for a line
  /// without an output. Throws ErrorKind::data, with the reason, if a picture cannot be drawn.
  std::string add(int64_t number, const std::string& line, const predict::Prediction& prediction);

 private:
  AlignmentPictureOptions options_;
  const predict::Predictor& predictor_;
  Terminal terminal_;
  std::optional<PngFiles> png_;
};

}  // namespace heed::cli
