#include "heed/tensor/tape_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace heed {
namespace {

TEST(TapeArena, PiecesAreAlignedAndApart) {
  // Random takes and gives. Each piece is filled with its own byte, and still holds it when it goes.
  std::mt19937 random(3);
  TapeArena arena;
  std::map<unsigned char*, std::pair<size_t, unsigned char>> held;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3000; ++i) {
      if (held.empty() || random() % 3 != 0) {
        const size_t bytes = random() % 10 == 0 ? random() % 300000 : random() % 3000;
        auto* piece = static_cast<unsigned char*>(arena.take(bytes));
        ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
        const auto mark = static_cast<unsigned char>(random());
        std::memset(piece, mark, bytes);
        ASSERT_TRUE(held.emplace(piece, std::pair{bytes, mark}).second);
      } else {
        const auto victim = std::next(held.begin(), static_cast<int64_t>(random() % held.size()));
        for (size_t k = 0; k < victim->second.first; ++k) ASSERT_EQ(victim->first[k], victim->second.second);
        arena.give(victim->first);
        held.erase(victim);
      }
    }
    for (const auto& [piece, what] : held)
      for (size_t k = 0; k < what.first; ++k) ASSERT_EQ(piece[k], what.second);
    held.clear();
    arena.reset();
  }
}

TEST(TapeArena, GivenPiecesMeltTogether) {
  TapeArena arena;
  std::vector<void*> pieces(16);
  for (void*& piece : pieces) piece = arena.take(60000);
  ASSERT_EQ(arena.system_calls(), 1);
  for (const int i : {3, 1, 2, 7, 5, 6, 4, 0, 15, 8, 14, 9, 13, 10, 12, 11}) arena.give(pieces[i]);
  EXPECT_EQ(arena.take(16 * 60000), pieces[0]);
  EXPECT_EQ(arena.system_calls(), 1);
  arena.give(nullptr);
}

TEST(TapeArena, ManyBlocksBecomeOne) {
  TapeArena arena;
  const auto step = [&] {
    for (int i = 0; i < 50; ++i) arena.take(size_t{300} << 10);
  };
  step();
  EXPECT_GT(arena.system_calls(), 1);
  arena.reset();
  const int64_t calls = arena.system_calls();
  const size_t capacity = arena.capacity(), peak = arena.peak();
  for (int i = 0; i < 5; ++i) {
    step();
    arena.reset();
  }
  EXPECT_EQ(arena.system_calls(), calls);
  EXPECT_EQ(arena.capacity(), capacity);
  EXPECT_EQ(arena.peak(), peak);
}

}  // namespace
}  // namespace heed
