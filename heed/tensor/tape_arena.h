// Memory that is taken piece by piece and given back all at once, or earlier where a piece is no longer needed.
//
// After the first steps of a training everything fits in one block that is used again and again: a steady step asks the
// system for nothing.
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

  /// Takes everything back. What had to be asked of the system in several blocks becomes one block of that size.
  void reset();

  size_t capacity() const { return capacity_; }       // bytes held from the system
  size_t peak() const { return peak_; }               // most bytes in use at once since the arena was made
  int64_t system_calls() const { return requests_; }  // how often the system was asked for memory

 private:
  struct Piece;  // header in front of every piece

  void grow(size_t bytes);
  void add_block(size_t bytes);
  void make_free(Piece* piece);
  void unlink(Piece* piece);

  std::vector<Piece*> blocks_;
  Piece* free_ = nullptr;  // list of free pieces, the one given back last in front
  size_t capacity_ = 0;
  size_t in_use_ = 0;
  size_t peak_ = 0;
  int64_t requests_ = 0;
};

}  // namespace heed
