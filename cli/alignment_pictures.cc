#include "cli/alignment_pictures.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/token_map.h"
#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/view/draw.h"
#include "heed/view/predicted.h"

namespace heed::cli {

AlignmentPictures::AlignmentPictures(const AlignmentPictureOptions& options, const predict::Predictor& predictor)
    : options_(options), predictor_(predictor) {
  const task::Task& task = predictor.model().task();
  expect(!task.reads_running_text(),
         "--alignments=picture: a model of running text has no alignment to a source; heed look shows what each token "
         "looked {}",
         task.writes() ? "back at" : "at");
  if (options.folder.empty()) {
    expect(task.sources() != task::SourceKind::picture,
           "--alignments=picture: cells of a picture cannot be shown on a terminal; --pictures FOLDER writes files");
    return;
  }
  if (options.format == "png") png_.emplace(options.scale);
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    throw Error(ErrorKind::cannot_write,
                fmt::format("cannot make the folder '{}': {}", options.folder, error.message()));
}

std::string AlignmentPictures::add(int64_t number, const std::string& line, const predict::Prediction& prediction) {
  if (prediction.nbest.empty() || prediction.nbest.front().alignment.empty()) return "";
  const view::Example example = view::example_of(predictor_, line, prediction);
  if (options_.folder.empty())
    return (example.sentences.empty() ? token_map(example, example.maps.front(), -1, terminal_)
                                      : shaded_text(example, terminal_)) +
           "\n";
  const auto file = std::filesystem::path(options_.folder) / fmt::format("{}.{}", number, options_.format);
  if (png_)
    png_->write(file, view::drawing_of(example));
  else
    write_svg(file, view::drawing_of(example));
  return "";
}

}  // namespace heed::cli
