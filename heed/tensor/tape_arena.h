// Memory that is allocated piece by piece and freed all at once; a piece may also be freed earlier.
//
// After the first training steps everything fits in one block, which is reused: from then on a step makes no system
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed {

class TapeArena {
 public:
  TapeArena() = default;
  ~TapeArena();
  TapeArena(const TapeArena&) = delete;
  TapeArena& operator=(const TapeArena&) = delete;

  /// Uninitialised memory, aligned to 64 bytes.
  void* take(size_t bytes);

  template <class T>
  T* take_array(int64_t count) {
    return static_cast<T*>(take(static_cast<size_t>(count) * sizeof(T)));
  }

  /// Gives one piece back before reset(). Null is allowed.
  void give(void* piece);

  /// Frees everything. If several blocks had to be allocated, they become one block of their total size.
  void reset();

  size_t capacity() const { return capacity_; }       // bytes held from the system
  size_t peak() const { return peak_; }               // most bytes in use at once since construction
  int64_t system_calls() const { return requests_; }  // number of system allocations

 private:
  struct Piece;  // header in front of every piece

  void grow(size_t bytes);
  void add_block(size_t bytes);
  void make_free(Piece* piece);
  void unlink(Piece* piece);

  std::vector<Piece*> blocks_;
  Piece* free_ = nullptr;  // list of free pieces, the last one freed in front
  size_t capacity_ = 0;
  size_t in_use_ = 0;
  size_t peak_ = 0;
  int64_t requests_ = 0;
};

}  // namespace heed
