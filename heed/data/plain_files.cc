#include "heed/data/plain_files.h"

#include "heed/base/error.h"

namespace heed::data {

void expect_plain_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_type type = std::filesystem::status(path, ignored).type();
  const bool pipe = type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket;
  const bool device = type == std::filesystem::file_type::character || type == std::filesystem::file_type::block;
  expect(!pipe && !device, ErrorKind::data,
         "cannot read {}: it is a {}, and has to be read more than once; write it to a file first", path.string(),
         pipe ? "pipe" : "device");
}

void expect_plain_files(const Options& options) {
  for (const PairFiles* files : {&options.train, &options.valid})
    for (const std::filesystem::path* file : {&files->tsv, &files->source, &files->target})
      if (!file->empty()) expect_plain_file(*file);
  for (const std::filesystem::path* file : {&options.alignments, &options.vectors})
    if (!file->empty()) expect_plain_file(*file);
}

}  // namespace heed::data
