#include "heed/base/sha256.h"

#include <gtest/gtest.h>

#include "tests/base/temporary.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

// FIPS 180-4, the examples of its appendix, and a million times 'a'.
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kMillion = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(file::sha256(""), kNothing);
  EXPECT_EQ(file::sha256("abc"), kAbc);
  EXPECT_EQ(file::sha256(std::string(1'000'000, 'a')), kMillion);
}

TEST(Sha256, PieceByPiece) {
  file::Sha256 hash;
  for (const char* piece : {"a", "", "b", "c"}) hash.add(std::as_bytes(std::span(std::string_view(piece))));
  EXPECT_EQ(hash.hex(), kAbc);
}

TEST(Sha256, OfAFile) {
  const TemporaryFolder folder;
  spill(folder / "empty", "");
  EXPECT_EQ(file::sha256_of_file(folder / "empty"), kNothing);
  spill(folder / "million", std::string(1'000'000, 'a'));
  EXPECT_EQ(file::sha256_of_file(folder / "million"), kMillion);
  // More than one buffer, and not a multiple of it.
  const std::string large(5'000'001, 'x');
  spill(folder / "large", large);
  EXPECT_EQ(file::sha256_of_file(folder / "large"), file::sha256(large));
}

TEST(Sha256, MissingFile) {
  const TemporaryFolder folder;
  expect_error([&] { file::sha256_of_file(folder / "no"); },
               fmt::format("cannot open '{}': No such file or directory", (folder / "no").string()));
}

}  // namespace
}  // namespace heed::test
