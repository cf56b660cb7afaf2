// The JSON of a checkpoint, as MANIFEST.json and as state.json: refused with a reason, or it is the same after writing
// and reading.
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/checkpoint/manifest.h"
#include "heed/checkpoint/training_state.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

void check_manifest(std::string_view text) {
  bool accepted = false;
  try {
    const std::string again = file::manifest_text(file::parse_manifest(text));
    accepted = true;
    require(file::manifest_text(file::parse_manifest(again)) == again, "another manifest after writing and reading");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  }
}

void check_state(std::string_view text) {
  bool accepted = false;
  try {
    const file::TrainingState state = file::TrainingState::parse(text, "fuzz");
    accepted = true;
    const std::string again = state.json();
    require(file::TrainingState::parse(again, "again").json() == again, "another state after writing and reading");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  heed::test::check_manifest(text);
  heed::test::check_state(text);
  return 0;
}
