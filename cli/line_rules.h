// What outputs must look like, line by line: files that are read together with the input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "heed/data/lines.h"
#include "heed/predict/predictor.h"

namespace heed::cli {

/// Line n of each file belongs to line n of the input; words or phrases are separated by tabs.
struct RuleFiles {
  std::string must, must_not, prefix;  // empty: none
};
void add_rule_files(Verb verb, RuleFiles& files);

class RuleReader {
 public:
  /// Throws if one of them does not exist.
  explicit RuleReader(const RuleFiles& files);

  /// Of the next `count` lines of the input; nothing if there are no files. Throws if a file has fewer lines.
  std::vector<predict::LineRules> next(size_t count);
  /// The input has ended: throws if a file goes on.
  void finish();

 private:
  struct File {
    const char* option;
    data::LineReader reader;
    std::vector<std::string> read_columns();
  };
  std::optional<File> must_, must_not_, prefix_;
};

}  // namespace heed::cli
