// Every rule of the format, broken once; then a good file, broken everywhere.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "heed/checkpoint/safetensors.h"
#include "tests/fuzz/broken_safetensors.h"
#include "tests/fuzz/safetensors_property.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void read(const std::string& text) {
  const auto bytes = bytes_of(text);
  file::Safetensors({bytes.begin(), bytes.end()}, "f");
}

TEST(BrokenSafetensors, EachIsRefusedWithItsReason) {
  const auto all = broken_safetensors();
  ASSERT_GT(all.size(), 60u);
  for (size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "file " << i << ": " << all[i].bytes);
    expect_error([&] { read(all[i].bytes); }, "'f': " + all[i].message);
    EXPECT_FALSE(check_safetensors(bytes_of(all[i].bytes)));
  }
}

TEST(BrokenSafetensors, GoodOnesAreRead) {
  for (const std::string& bytes : good_safetensors()) {
    SCOPED_TRACE(bytes);
    EXPECT_TRUE(check_safetensors(bytes_of(bytes)));
  }
}

TEST(BrokenSafetensors, EveryTruncationIsRefused) {
  for (const std::string& bytes : good_safetensors())
    for (size_t size = 0; size < bytes.size(); ++size)
      // Blanks at the end of a header are no part of it, but its length counts them.
      EXPECT_FALSE(check_safetensors(bytes_of(bytes.substr(0, size)))) << bytes << " cut to " << size;
}

TEST(BrokenSafetensors, EveryAppendedByteIsRefused) {
  for (const std::string& bytes : good_safetensors())
    for (const char c : {'\0', ' ', '}'}) EXPECT_FALSE(check_safetensors(bytes_of(bytes + c))) << bytes;
}

TEST(BrokenSafetensors, AnyChangedByteIsReadOrRefused) {
  int read = 0, refused = 0;
  for (const std::string& bytes : good_safetensors())
    for (size_t at = 0; at < bytes.size(); ++at)
      for (int value = 0; value < 256; ++value) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(value);
        ++(check_safetensors(bytes_of(changed)) ? read : refused);
      }
  EXPECT_GT(read, 1000);      // a letter of a name, a number
  EXPECT_GT(refused, 10000);  // the rest
}

TEST(BrokenSafetensors, RandomMutationsAreReadOrRefused) {
  std::mt19937_64 random(1);
  const auto good = good_safetensors();
  const std::string_view pieces[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "\"x\"",
                                     "0",
                                     "-1",
                                     "4",
                                     "1e999",
                                     "null",
                                     "\"F32\"",
                                     "\"F16\"",
                                     "\"F64\"",
                                     "\"BF16\"",
                                     "\"shape\"",
                                     "18446744073709551615",
                                     "\\u0000",
                                     "\xff"};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good[random() % good.size()].substr(8);
    for (size_t changes = random() % 4 + 1; changes > 0; --changes) {
      const size_t at = random() % (bytes.size() + 1);
      const std::string_view piece = pieces[random() % std::size(pieces)];
      random() % 2 ? bytes.insert(at, piece) : bytes.replace(at, random() % 9, piece);
    }
    const size_t end = bytes.rfind('}');
    check_safetensors(bytes_of(length_bytes(end == std::string::npos ? bytes.size() : end + 1) + bytes));
  }
}

TEST(BrokenSafetensors, DeepNestingNeedsNoStack) {
  for (const char* piece : {"[", "{\"x\":"}) {
    std::string header = "{\"x\":{\"shape\":";
    while (header.size() < 10'000'000) header += piece;
    EXPECT_FALSE(check_safetensors(bytes_of(safetensors_file(header, 0))));
  }
}

TEST(BrokenSafetensors, LongNamesMakeShortMessages) {
  const std::string name(1'000'000, 'n');
  expect_error([&] { read(safetensors_file("{\"" + name + "\":1}", 0)); },
               "'f': tensor '" + std::string(100, 'n') + "...': it must be an object, not the number 1");
}

}  // namespace
}  // namespace heed::test
