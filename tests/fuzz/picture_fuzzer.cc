// A PNG or JPEG file, as it is and scaled. It may be refused with a reason; else the picture is as large as was asked
// for, and a second reading gives the same.
#include <cstdint>
#include <string_view>

#include "heed/data/picture.h"
#include "heed/tensor/memory.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

void check_picture(std::string_view bytes) {
  constexpr int64_t kLarge = 1 << 22;  // pixels: more take too long for a fuzzer
  const MemoryFile file(bytes);
  bool accepted = false;
  try {
    const data::PictureSize size = data::size_of_picture(file.path());
    accepted = true;
    require(size.height > 0 && size.width > 0 && size.height * size.width <= data::kMostPixels, "a size out of range");
    if (size.height * size.width > kLarge) return;
    accepted = false;
    const data::Picture small = data::read_picture(file.path(), {5, 7});
    accepted = true;
    require(small.height == 5 && small.width == 7 && small.rgb.size() == 105, "not the size that was asked for");
    const data::Picture whole = data::read_picture(file.path());
    require(whole.height == size.height && whole.width == size.width, "not the size in the header");
    require(data::scaled(whole, {5, 7}).rgb == small.rgb, "scaled while it is read: another picture");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  } catch (const NotEnoughMemory&) {
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_picture({reinterpret_cast<const char*>(data), size});
  return 0;
}
