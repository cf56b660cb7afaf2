// FLAC by libsndfile, if it is on this machine when a recording needs it (Debian: libsndfile1): nothing is linked to
// it, so that heed and programs with it run without. What is declared here is its interface, which has been the same
// since 1.0.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/sound/sound.h"

namespace heed::sound {

namespace {

using Count = int64_t;

struct Info {  // SF_INFO
  Count frames = 0;
  int samplerate = 0, channels = 0, format = 0, sections = 0, seekable = 0;
};

struct VirtualFile {  // SF_VIRTUAL_IO
  Count (*length)(void* user);
  Count (*seek)(Count offset, int whence, void* user);
  Count (*read)(void* to, Count count, void* user);
  Count (*write)(const void* from, Count count, void* user);
  Count (*tell)(void* user);
};

constexpr int kRead = 0x10;  // SFM_READ

struct Library {
  void* (*open)(VirtualFile*, int mode, Info*, void* user) = nullptr;
  Count (*read)(void* file, double* to, Count frames) = nullptr;
  int (*close)(void* file) = nullptr;
  const char* (*why)(void* file) = nullptr;

  explicit operator bool() const { return open && read && close && why; }
};

const Library& library() {
  static const Library found = [] {
    Library l;
    void* handle = nullptr;
    for (const char* name : {"libsndfile.so.1", "libsndfile.1.dylib"})
      if (!handle) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return l;
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    };
    take(l.open, "sf_open_virtual");
    take(l.read, "sf_readf_double");
    take(l.close, "sf_close");
    take(l.why, "sf_strerror");
    return l;
  }();
  return found;
}

/// A file in memory.
struct Memory {
  std::string_view bytes;
  Count at = 0;
  Count size() const { return std::ssize(bytes); }
};
Memory& memory_of(void* user) { return *static_cast<Memory*>(user); }

VirtualFile virtual_file() {
  return {.length = [](void* user) { return memory_of(user).size(); },
          .seek = [](Count offset, int whence, void* user) -> Count {
            Memory& memory = memory_of(user);
            const Count from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory.at : memory.size();
            return memory.at = std::clamp<Count>(from + offset, 0, memory.size());
          },
          .read = [](void* to, Count count, void* user) -> Count {
            Memory& memory = memory_of(user);
            const Count some = std::clamp<Count>(count, 0, memory.size() - memory.at);
            std::memcpy(to, memory.bytes.data() + memory.at, static_cast<size_t>(some));
            memory.at += some;
            return some;
          },
          .write = [](const void*, Count, void*) -> Count { return 0; },
          .tell = [](void* user) { return memory_of(user).at; }};
}

}  // namespace

bool is_flac(std::string_view bytes) { return bytes.starts_with("fLaC"); }

bool reads_flac() { return static_cast<bool>(library()); }

Sound flac_sound(const std::string& bytes) {
  expect(reads_flac(), ErrorKind::file,
         "this is FLAC, which needs libsndfile (Debian: libsndfile1); or convert the file: flac -d FILE");
  Memory memory{bytes};
  VirtualFile io = virtual_file();
  Info info;
  const std::unique_ptr<void, int (*)(void*)> file(library().open(&io, kRead, &info, &memory), library().close);
  expect(file != nullptr, ErrorKind::file, "it cannot be read as FLAC: {}", library().why(nullptr));
  expect(info.channels >= 1 && info.channels <= kMostChannels, ErrorKind::file, "{} channels; 1 to {} are read",
         info.channels, kMostChannels);
  // A header may promise anything: FLAC makes of a byte at most some thousand samples, of silence.
  expect(info.frames >= 0 && info.frames <= kMostBytes, ErrorKind::file, "{} samples are too many", info.frames);
  expect_memory(static_cast<double>(sizeof(float)) * static_cast<double>(info.frames), "a FLAC recording");
  Sound sound{.rate = info.samplerate};
  constexpr Count kAtOnce = 4096;
  std::vector<double> some(static_cast<size_t>(kAtOnce * info.channels));
  while (std::ssize(sound.samples) <= info.frames) {
    stop_if_interrupted();
    const Count count = library().read(file.get(), some.data(), kAtOnce);
    if (count <= 0) break;
    for (Count i = 0; i < count; ++i) {
      double sum = 0;
      for (int c = 0; c < info.channels; ++c) sum += some[static_cast<size_t>(i * info.channels + c)];
      sound.samples.push_back(static_cast<float>(sum / info.channels));
    }
  }
  expect(std::ssize(sound.samples) == info.frames, ErrorKind::file,
         "it is cut short or damaged: {} samples are announced, and {} are there", info.frames, sound.samples.size());
  return sound;
}

}  // namespace heed::sound
