// The rows of the catalogue that are models, ways to train and ways to decode: what their pages say. A new one is one
// entry of the list in model_catalogue.cc.
#pragma once

#include <string_view>
#include <vector>

namespace heed::cli {

struct ModelPage {
  const char* id;    // row of the catalogue: "X2"
  const char* name;  // "transformer_encoder"
  const char* title;
  const char* formula;  // in ASCII; two blanks end a line
  const char* shapes;
  const char* paper;
  const char* cost;
  const char* page;     // for newcomers; a blank line ends a paragraph
  const char* command;  // lines for a shell
  const char* picture;  // in docs/pictures, made by heed; empty: none
};

const std::vector<ModelPage>& model_pages();

/// Null if there is none.
const ModelPage* find_model_page(std::string_view name);

}  // namespace heed::cli
