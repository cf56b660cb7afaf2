// heed evaluate --errors --html: the wrong outputs on one page, the worst first, each with what the model attended to.
#pragma once

#include <cstdint>
#include <string>

#include "cli/errors.h"
#include "heed/predict/predictor.h"

namespace heed::cli {

struct ErrorPage {
  std::string file;
  std::string model;  // where it comes from
  int64_t most = 0;   // outputs on the page; 0: as many as are usual
};

/// Throws if this program has no page, or the model cannot be looked into.
void expect_error_page(const predict::Predictor& predictor);

/// `errors` are of `outputs`. The page gets fewer if it would become too large to open; what it has, and why it is not
/// all, is returned as a sentence.
std::string write_error_page(const ErrorPage& page, const Errors& errors, const Outputs& outputs,
                             const predict::Predictor& predictor);

}  // namespace heed::cli
