// What the command line has, read from the definitions of the verbs: completions and the manual are made from this, and
// nobody writes an option down twice.
#pragma once

#include <string>
#include <vector>

namespace heed::cli {

struct OptionText {
  std::vector<std::string> names;  // "-h", "--help"; of what stands without a name: "MODEL"
  std::string value;               // "N", "FILE"; empty: a switch
  std::string meaning;
  std::vector<std::string> words;  // what the value may be, or some of that
  bool positional = false, required = false, several = false;
  bool value_may_be_left_out = false;  // --alignments, --alignments=matrix
};

struct VerbText {
  std::string name, meaning, footer;
  std::vector<OptionText> options;  // positional ones first
};

struct ProgramText {
  std::string meaning, footer;
  std::vector<OptionText> options;
  std::vector<VerbText> verbs;  // without those that are not listed
};

}  // namespace heed::cli
