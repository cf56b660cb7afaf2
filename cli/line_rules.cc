#include "cli/line_rules.h"

#include <fmt/format.h>

#include "cli/options.h"
#include "heed/base/error.h"
#include "heed/data/pairs.h"

namespace heed::cli {

void add_rule_files(Verb verb, RuleFiles& files) {
  verb.option("--must-file", files.must, "Like --must, for single lines: line n holds those of input line n, with tabs")
      .value("FILE");
  verb.option("--must-not-file", files.must_not, "The same for --must-not").value("FILE");
  verb.option("--prefix-file", files.prefix, "Line n is the prefix of the output for input line n; it may be empty")
      .value("FILE");
}

RuleReader::RuleReader(const RuleFiles& files) {
  const auto open = [](std::optional<File>& file, const char* option, const std::string& path) {
    if (!path.empty()) file.emplace(File{option, data::LineReader(readable(path))});
  };
  open(must_, "--must-file", files.must);
  open(must_not_, "--must-not-file", files.must_not);
  open(prefix_, "--prefix-file", files.prefix);
}

std::vector<std::string> RuleReader::File::read_columns() {
  std::string line;
  if (!reader.next(line))
    throw Error(ErrorKind::data, fmt::format("{}: '{}' has {} lines, but the input has more: it needs one for each",
                                             option, reader.path().string(), reader.number()));
  std::vector<std::string> columns;
  for (const std::string_view column : data::columns_of(line))
    if (!column.empty()) columns.emplace_back(column);
  return columns;
}

std::vector<predict::LineRules> RuleReader::next(size_t count) {
  if (!must_ && !must_not_ && !prefix_) return {};
  std::vector<predict::LineRules> all(count);
  for (predict::LineRules& rules : all) {
    if (must_) rules.must = must_->read_columns();
    if (must_not_) rules.must_not = must_not_->read_columns();
    if (!prefix_) continue;
    const std::vector<std::string> columns = prefix_->read_columns();
    if (columns.size() > 1)
      throw Error(ErrorKind::data, fmt::format("--prefix-file: '{}', line {}: a prefix has no tabs",
                                               prefix_->reader.path().string(), prefix_->reader.number()));
    if (!columns.empty()) rules.prefix = columns.front();
  }
  return all;
}

void RuleReader::finish() {
  std::string line;
  for (std::optional<File>* file : {&must_, &must_not_, &prefix_})
    if (*file && (*file)->reader.next(line))
      throw Error(ErrorKind::data,
                  fmt::format("{}: '{}' has more lines than the input, which has {}: line n belongs to line n of it",
                              (*file)->option, (*file)->reader.path().string(), (*file)->reader.number() - 1));
}

}  // namespace heed::cli
