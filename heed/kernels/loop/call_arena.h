// Small objects that live as long as a call: its parts, its plan, its ordered sums. They are allocated one after
// another in memory that the thread keeps, and freed all at once: a call of one query would otherwise spend more time
// in the allocator than in attention.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace heed::kernels {

/// Destroys an object in an arena; its memory stays with the arena.
struct Destroy {
  template <class T>
  void operator()(T* at) const {
    std::destroy_at(at);
  }
};
/// A part of the loop that a call has made for itself.
template <class T>
using ArenaPtr = std::unique_ptr<T, Destroy>;

class CallArena final : public std::pmr::memory_resource {
 public:
  /// The most bytes kept between calls. A larger plan (some 10^5 tiles) is returned to the system after its call, which
  /// is long enough not to notice.
  static constexpr size_t kKept = size_t{1} << 20;

  CallArena() = default;
  CallArena(const CallArena&) = delete;
  CallArena& operator=(const CallArena&) = delete;
  ~CallArena() override { release(); }

  /// A part of the loop.
  template <class T, class... Arguments>
  ArenaPtr<T> make(Arguments&&... arguments) {
    return ArenaPtr<T>(::new (allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...));
  }
  /// `count` elements, initially zero.
  template <class T>
  T* array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* at = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(at, count);
    return at;
  }

  /// After a call, when nothing in here is alive any more. If the call took several chunks, the next one gets a single
  /// chunk.
  void clear();

 private:
  static constexpr size_t kAlign = 64;

  struct alignas(kAlign) Chunk {
    Chunk* before;
    size_t size;  // of what follows
  };

  void* do_allocate(size_t bytes, size_t align) override {
    assert(align <= kAlign);
    (void)align;
    // Whole cache lines each, so that the sum of them needs the same room in one chunk as in several.
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    if (!last_ || last_->size - used_ < bytes) grow(bytes);
    void* at = reinterpret_cast<char*>(last_ + 1) + used_;
    used_ += bytes;
    total_ += bytes;
    return at;
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  void grow(size_t bytes);
  bool add_chunk(size_t size);  // false: no memory
  void release();

  Chunk* last_ = nullptr;
  size_t used_ = 0;   // of the last chunk
  size_t total_ = 0;  // of all
};

}  // namespace heed::kernels
