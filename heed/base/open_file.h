// Opening files to read them, whatever they are, without ever waiting.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::text {

/// A descriptor, or -1 with the reason in errno. Opening a pipe without a writer would wait for one, perhaps for ever;
/// this does not, and reading such a descriptor fails with EAGAIN until wait_to_read().
int open_to_read(const std::filesystem::path& path);

/// "a folder", "a pipe", "a device" or "a socket"; empty if it is an ordinary file.
std::string_view other_than_a_file(int descriptor);

/// Until there is something to read, or the end: the writer of a pipe may take its time. Throws Interrupted. From then
/// on reading waits.
void wait_to_read(int descriptor);

}  // namespace heed::text
