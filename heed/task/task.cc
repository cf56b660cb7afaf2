#include "heed/task/task.h"

namespace heed::task {

data::References Task::read_references(const std::filesystem::path& tsv, const data::Options& options,
                                       data::Report& report) const {
  data::PairFiles files = options.train;  // its columns
  files.source.clear();
  files.target.clear();
  files.tsv = tsv;
  files.columns = files.max_characters = 0;  // what training skips counts here
  return data::group_references(data::read_pairs(files, report));
}

std::vector<std::string> Task::file_keys(int64_t files, DataRole role) const {
  if (files != 1) return {};
  return {role == DataRole::train ? "data.tsv" : "data.valid_tsv"};
}

}  // namespace heed::task
