// The wrong lines, and what is wrong with each: heed evaluate --errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/evaluation.h"
#include "cli/terminal.h"
#include "heed/base/json.h"
#include "heed/text/metric/difference.h"

namespace heed::cli {

/// A line that equals none of its references.
struct WrongLine {
  size_t index = 0;    // among the outputs
  int64_t number = 0;  // of the line, from 1
  std::string source;  // empty if there is none
  std::string output;
  std::string reference;  // of several, the one with the fewest edits
  size_t nearest = 0;     // which of them it is
  double badness = 0;     // edits per letter of the reference; of a label, its probability
};

struct Errors {
  std::vector<WrongLine> lines;  // the worst first, of labels the surest; ties in the order of the file
  size_t wrong = 0;              // all of them; `lines` may hold fewer
  size_t all = 0;
  bool have_sources = false;
  bool labels = false;

  /// "12 of 300 are wrong"
  std::string count() const;
};

/// Keeps the `most` worst; 0: all. The options say what is compared: without BPE marks, in lower case.
Errors errors_of(const Outputs& outputs, const EvaluationOptions& options, int64_t most);

/// For people. On a terminal with colours, what is too much is red and what is missing green, beside the marks.
std::string errors_text(const Errors& errors, const Terminal& terminal);
file::Json errors_json(const Errors& errors);

/// The extension decides the format: .tsv, .jsonl, or otherwise text.
void write_errors(const Errors& errors, const std::string& path);

}  // namespace heed::cli
