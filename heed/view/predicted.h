// The answer of a search as an example to draw: its alignment alone, as the search found it.
#pragma once

#include <string>
#include <vector>

#include "heed/predict/predictor.h"
#include "heed/view/document.h"

namespace heed::view {

/// Of the best output, which was asked for with its alignment. Throws ErrorKind::data if there is none.
Example example_of(const predict::Predictor& model, const std::string& line, const predict::Prediction& prediction);
/// The same without the model, from what alignment_rows() said.
Example example_of(const std::string& line, const predict::Prediction& prediction, Sequence rows);

/// What the rows of the alignment of the best output are: the tokens of the output; of a label, its pooled vectors or a
/// second text.
Sequence alignment_rows(const predict::Predictor& model, const predict::Prediction& prediction);

// Parts of examples that do not depend on how the model was asked:

/// The line, but for a picture inside it, which the example has anyway: its label.
std::string shown_input(const std::string& line, const predict::Prediction& prediction);
/// Of an example whose text is pooled as a whole: its words by their mean weight. Otherwise nothing.
std::vector<Sentence> whole_text(const Example& example);
/// The recording that a line names, as the model reads it.
SeenRecording seen_recording(const predict::Predictor& model, const std::string& line,
                             const predict::Prediction& prediction);
/// The picture that a line names, small enough for a page, and what its cells are called.
SeenPicture seen_picture(const std::string& line, const predict::Prediction& prediction);
std::vector<std::string> cell_names(const predict::Prediction& prediction);

}  // namespace heed::view
