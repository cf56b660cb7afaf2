// model.bin of CTranslate2: it may be refused with a reason, and what was accepted gives numbers as its shapes say.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heed/imports/ctranslate2_file.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  bool accepted = false;
  try {
    auto file =
        heed::imports::parse_ctranslate2(std::make_shared<const std::vector<std::byte>>(bytes, bytes + size), "fuzz");
    accepted = true;
    for (const auto& [name, tensor] : file.tensors.all()) {
      uint64_t count = 1;
      for (const int64_t dimension : tensor.shape) count *= static_cast<uint64_t>(dimension);
      heed::test::require(tensor.numbers().size() == count, "a shape that its numbers do not have");
    }
  } catch (const heed::Error& error) {
    heed::test::require_refusal(error, accepted);
  }
  return 0;
}
