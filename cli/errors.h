// The lines that are wrong, and what is wrong with each: heed evaluate --errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/evaluation.h"
#include "cli/terminal.h"
#include "heed/file/json.h"
#include "heed/metric/difference.h"

namespace heed::cli {

/// A line that is equal to none of its references.
struct WrongLine {
  int64_t number = 0;  // of the line, from 1
  std::string source;  // empty where there is none
  std::string output;
  std::string reference;  // of several, the one with the fewest edits
  double badness = 0;     // edits per letter of the reference
};

struct Errors {
  std::vector<WrongLine> lines;  // the worst first; of equals, the first in the file
  size_t wrong = 0;              // more than `lines` where only some were asked for
  size_t all = 0;
  bool have_sources = false;

  /// "12 of 300 are wrong"
  std::string count() const;
};

/// `most`: of the worst; 0: all. They are compared as the options say: without BPE, without capital letters.
Errors errors_of(const Outputs& outputs, const EvaluationOptions& options, int64_t most);

/// For the eye: what is too much is red on a terminal with colours, what is missing green; the marks are there anyway.
std::string errors_text(const Errors& errors, const Terminal& terminal);
file::Json errors_json(const Errors& errors);

/// In the form that the name of the file asks for: .tsv, .jsonl, or as text.
void write_errors(const Errors& errors, const std::string& path);

}  // namespace heed::cli
