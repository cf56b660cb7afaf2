// The command line as data, read from the definitions of the commands. Completions and the manual are generated from
// it, so that no option is written down twice.
#pragma once

#include <string>
#include <vector>

namespace heed::cli {

struct OptionText {
  std::vector<std::string> names;  // "-h", "--help"; of a positional argument: "MODEL"
  std::string value;               // "N", "FILE"; empty: a switch
  std::string meaning;
  std::vector<std::string> words;  // possible values, or some of them
  bool positional = false, required = false, several = false;
  bool value_may_be_left_out = false;  // --alignments, --alignments=matrix
  bool sets_key = false;               // --set SECTION.KEY=VALUE
};

struct VerbText {
  std::string name, meaning, footer;
  std::vector<OptionText> options;  // positional ones first
};

struct ProgramText {
  std::string meaning, footer;
  std::vector<OptionText> options;
  std::vector<VerbText> verbs;  // only the listed ones
};

}  // namespace heed::cli
