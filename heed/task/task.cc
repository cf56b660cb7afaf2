#include "heed/task/task.h"

namespace heed::task {

data::References Task::read_references(const std::filesystem::path& tsv, const data::Options& options,
                                       data::Report& report) const {
  return data::group_references(data::read_pairs({.tsv = tsv,
                                                  .source_column = options.train.source_column,
                                                  .target_column = options.train.target_column,
                                                  .header = options.train.header},
                                                 report));
}

}  // namespace heed::task
