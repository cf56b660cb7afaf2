// A document as a file: for programs and for the page.
#pragma once

#include "heed/base/json.h"
#include "heed/view/document.h"

namespace heed::view {

/// How weights are written.
enum class Precision {
  exact,  // every bit of a float
  drawn,  // a byte each, as fine as an eye can see: a quarter of the size
};

/// As docs/attention_document.md has it.
file::Json json_of(const Document& document, Precision precision);

}  // namespace heed::view
