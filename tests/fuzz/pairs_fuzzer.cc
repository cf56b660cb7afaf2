// Pairs of lines, in one file or, cut at the first zero byte, in two; plain, and gzip. The first byte says which. They
// may be refused with a reason; else both sides go together, and the compressed text is read as the plain one.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "heed/data/pairs.h"
#include "tests/data/gzip.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

/// All pairs in the files as one text, or that they were refused.
std::string read(data::PairFiles files, const MemoryFile& first, const MemoryFile* second) {
  (second ? files.source : files.tsv) = first.path();
  if (second) files.target = second->path();
  bool accepted = false;
  std::string all;
  try {
    data::Report report;
    const data::Pairs pairs = data::read_pairs(files, report);
    accepted = true;
    require(pairs.source.size() == pairs.line.size() && pairs.target.size() == pairs.line.size(), "a side is shorter");
    for (size_t n = 0; n < pairs.line.size(); ++n) {
      require(n == 0 || pairs.line[n - 1] < pairs.line[n], "lines out of order");
      for (const std::string* side : {&pairs.source[n], &pairs.target[n]})
        require(side->find('\n') == std::string::npos, "a line with a newline");
      all += std::to_string(pairs.line[n]) + "\t" + pairs.source[n] + "\t" + pairs.target[n] + "\n";
    }
  } catch (const Error& error) {
    require_refusal(error, accepted);
    return "refused";
  }
  return all;
}

void check_pairs(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto choice = static_cast<uint8_t>(bytes[0]);
  const bool two = choice & 1;
  data::PairFiles files;
  files.target_column = 1 + (choice >> 1 & 3);
  files.columns = choice >> 3 & 3;
  files.max_characters = choice >> 5 & 3;
  bytes.remove_prefix(1);
  const size_t end = two ? bytes.find('\0') : std::string_view::npos;
  const std::string_view front = bytes.substr(0, end), back = end < bytes.size() ? bytes.substr(end + 1) : "";
  const MemoryFile first(front), second(back);
  const std::string plain = read(files, first, two ? &second : nullptr);
  // What begins as gzip does is read as such; compressed once more it is another text.
  const auto is_gzip = [](std::string_view text) { return text.starts_with("\x1f\x8b"); };
  if (is_gzip(front) || is_gzip(back)) return;
  const MemoryFile first_small(gzip(front)), second_small(gzip(back));
  require(read(files, first_small, two ? &second_small : nullptr) == plain, "gzip is read as another text");
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_pairs({reinterpret_cast<const char*>(data), size});
  return 0;
}
