// The files of llama2.c, a model or its pieces: each may be refused with a reason.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/imports/llama2c_file.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;  // NOLINT: a fuzzer is a small program
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    imports::parse_llama2c_pieces(bytes, "fuzz");
  } catch (const Error& error) {
    test::require_refusal(error, false);
  }
  bool accepted = false;
  try {
    const auto file =
        imports::parse_llama2c(std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()), "fuzz");
    accepted = true;
    test::require(imports::is_llama2c(bytes, size), "read, but not recognised");
    for (const auto& [name, tensor] : file.tensors.all()) tensor.numbers();
  } catch (const Error& error) {
    test::require_refusal(error, accepted);
  }
  return 0;
}
