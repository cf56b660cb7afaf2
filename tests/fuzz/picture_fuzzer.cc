// A PNG or JPEG file, as it is and scaled. It may be refused with a reason; else the picture is as large as was asked
// for, and a second reading, from memory, gives the same. The bytes are also read as the text of a picture inside a
// line.
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/memory.h"
#include "heed/data/inline_picture.h"
#include "heed/data/picture.h"
#include "heed/data/picture_source.h"
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
    const data::Picture whole = data::read_picture({.bytes = std::string(bytes), .name = "memory"});
    require(whole.height == size.height && whole.width == size.width, "not the size in the header");
    require(data::scaled(whole, {5, 7}).rgb == small.rgb, "scaled while it is read: another picture");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  } catch (const NotEnoughMemory&) {
  }
}

/// It never reaches the file system, whatever follows.
void check_inline(std::string_view bytes) {
  const std::string name = "data:" + std::string(bytes);
  require(!data::is_file_name(name), "a picture inside a line is taken for a file");
  bool accepted = false;
  try {
    const data::PictureBytes picture = data::inline_picture(name);
    accepted = true;
    require(!picture.bytes.empty() && picture.bytes.size() <= bytes.size() / 4 * 3, "more bytes than the text holds");
    require(picture.name.size() < 100, "a long name for messages");
    accepted = false;
    data::size_of_picture(picture);
  } catch (const Error& error) {
    require_refusal(error, accepted);
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  heed::test::check_picture(bytes);
  heed::test::check_inline(bytes);
  return 0;
}
