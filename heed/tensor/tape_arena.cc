#include "heed/tensor/tape_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include "heed/base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

namespace heed {

namespace {
constexpr size_t kAlign = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kFirstBlock = size_t{1} << 20;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// AddressSanitizer sees one large block; these tell it which parts must not be touched.
void forbid(void* at, size_t bytes) { ASAN_POISON_MEMORY_REGION(at, bytes); }
void allow(void* at, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(at, bytes); }
}  // namespace

// One cache line in front of what the user sees. Neighbours in memory are linked in both directions, so a freed piece
// merges with free neighbours at once.
struct alignas(kAlign) TapeArena::Piece {
  size_t bytes;  // of the user's part
  bool is_free;
  Piece* left;   // neighbour in memory, null at the start of a block
  Piece* right;  // neighbour in memory, null at the end of a block
  Piece* next_free;
  Piece* previous_free;

  char* user() { return reinterpret_cast<char*>(this) + sizeof(Piece); }
};

TapeArena::~TapeArena() {
  for (Piece* block : blocks_) std::free(block);
}

void TapeArena::unlink(Piece* piece) {
  (piece->previous_free ? piece->previous_free->next_free : free_) = piece->next_free;
  if (piece->next_free) piece->next_free->previous_free = piece->previous_free;
  piece->is_free = false;
}

void TapeArena::make_free(Piece* piece) {
  piece->is_free = true;
  piece->previous_free = nullptr;
  piece->next_free = free_;
  if (free_) free_->previous_free = piece;
  free_ = piece;
  forbid(piece->user(), piece->bytes);
}

void* TapeArena::take(size_t wanted) {
  const size_t bytes = round_up(std::max<size_t>(wanted, 1), kAlign);
  Piece* piece = free_;
  while (piece && piece->bytes < bytes) piece = piece->next_free;
  if (!piece) {
    grow(bytes);
    piece = free_;
  }
  unlink(piece);
  if (piece->bytes >= bytes + sizeof(Piece) + kAlign) {  // cut off the rest
    allow(piece->user() + bytes, sizeof(Piece));
    auto* rest = new (piece->user() + bytes)
        Piece{piece->bytes - bytes - sizeof(Piece), false, piece, piece->right, nullptr, nullptr};
    if (rest->right) rest->right->left = rest;
    piece->right = rest;
    piece->bytes = bytes;
    make_free(rest);
  }
  in_use_ += piece->bytes + sizeof(Piece);
  peak_ = std::max(peak_, in_use_);
  allow(piece->user(), wanted);
  return piece->user();
}

void TapeArena::give(void* memory) {
  if (!memory) return;
  Piece* piece = reinterpret_cast<Piece*>(static_cast<char*>(memory) - sizeof(Piece));
  in_use_ -= piece->bytes + sizeof(Piece);
  auto swallow_right = [](Piece* p) {
    p->bytes += p->right->bytes + sizeof(Piece);
    p->right = p->right->right;
    if (p->right) p->right->left = p;
  };
  if (piece->right && piece->right->is_free) {
    unlink(piece->right);
    swallow_right(piece);
  }
  if (piece->left && piece->left->is_free) {
    piece = piece->left;
    unlink(piece);
    swallow_right(piece);
  }
  make_free(piece);
}

void TapeArena::add_block(size_t bytes) {
  bytes = round_up(bytes, bytes >= kHugePage ? kHugePage : kAlign);
  void* memory = std::aligned_alloc(bytes >= kHugePage ? kHugePage : kAlign, bytes);
  if (!memory)
    throw NotEnoughMemory(
        fmt::format("not enough memory: this needs about {:.1f} GB", static_cast<double>(capacity_ + bytes) / 1e9));
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // only a wish: fewer page faults and TLB misses
  ++requests_;
  capacity_ += bytes;
  auto* piece = new (memory) Piece{bytes - sizeof(Piece), false, nullptr, nullptr, nullptr, nullptr};
  blocks_.push_back(piece);
  make_free(piece);
}

void TapeArena::grow(size_t bytes) {
  add_block(std::max(bytes + 2 * sizeof(Piece), std::max(kFirstBlock, capacity_ / 2)));
}

void TapeArena::reset() {
  free_ = nullptr;
  in_use_ = 0;
  if (blocks_.size() > 1) {
    const size_t all = capacity_;
    for (Piece* block : blocks_) std::free(block);
    blocks_.clear();
    capacity_ = 0;
    add_block(all);
  } else if (!blocks_.empty()) {
    Piece* block = blocks_.front();
    *block = Piece{capacity_ - sizeof(Piece), false, nullptr, nullptr, nullptr, nullptr};
    make_free(block);
  }
}

}  // namespace heed
