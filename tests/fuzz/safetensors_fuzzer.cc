// libFuzzer: make fuzz.
#include <cstdint>
#include <span>

#include "tests/fuzz/safetensors_property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_safetensors(std::as_bytes(std::span(data, size)));
  return 0;
}
