// Files that are damaged, or made by somebody who means harm, are refused: before memory is given for what they
// promise.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "heed/base/error.h"
#include "heed/imports/byte_bpe_files.h"
#include "heed/imports/ctranslate2_file.h"
#include "heed/imports/importer.h"
#include "heed/imports/llama2c_file.h"
#include "tests/imports/golden.h"

namespace heed::imports::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Little-endian numbers and texts, one after the other.
class Writer {
 public:
  template <class Number>
  Writer& number(Number value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(Number));
    return *this;
  }
  Writer& name(const std::string& text) {
    number(static_cast<uint16_t>(text.size() + 1));
    for (const char c : text + std::string(1, '\0')) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

CTranslate2File parse(const Bytes& bytes) { return parse_ctranslate2(std::make_shared<const Bytes>(bytes), "file"); }

void expect_refused(const Bytes& bytes, const std::string& why) {
  try {
    parse(bytes);
    FAIL() << "it was read: " << why;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::file);
  }
}

Writer start(uint32_t tensors, uint32_t version = 6) {
  Writer w;
  w.number(version).name("TransformerSpec").number(uint32_t{1}).number(tensors);
  return w;
}

TEST(CTranslate2File, ReadsEveryType) {
  Writer w = start(5);
  w.name("a").number(uint8_t{1}).number(uint32_t{2}).number(uint8_t{0}).number(uint32_t{8}).number(1.5f).number(-2.0f);
  w.name("b").number(uint8_t{0}).number(uint8_t{2}).number(uint32_t{2}).number(int16_t{-300});
  w.name("c").number(uint8_t{2}).number(uint32_t{2}).number(uint32_t{1}).number(uint8_t{1}).number(uint32_t{2});
  w.number(int8_t{-4}).number(int8_t{6});
  w.name("c_scale")
      .number(uint8_t{1})
      .number(uint32_t{2})
      .number(uint8_t{0})
      .number(uint32_t{8})
      .number(2.0f)
      .number(4.0f);
  w.name("d").number(uint8_t{1}).number(uint32_t{1}).number(uint8_t{5}).number(uint32_t{2}).number(uint16_t{0x3FC0});
  w.number(uint32_t{1}).name("e").name("a");
  CTranslate2File file = parse(w.bytes());
  EXPECT_EQ(file.tensors.take("a"), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(file.tensors.number("b"), -300.0);
  EXPECT_EQ(file.tensors.take("c"), (std::vector<float>{-2.0f, 1.5f}));
  EXPECT_EQ(file.tensors.take("d"), (std::vector<float>{1.5f}));
  EXPECT_EQ(file.tensors.take("e"), file.tensors.take("a"));
  EXPECT_FALSE(file.tensors.has("c_scale"));
  EXPECT_EQ(file.tensors.unused(), std::vector<std::string>{});
}

TEST(CTranslate2File, RefusesWithTheReason) {
  expect_refused({}, "cut off");
  expect_refused(start(0, 7).bytes(), "has version 7");
  expect_refused(start(1).bytes(), "the name of a tensor");
  expect_refused(Writer(start(1)).name("a").number(uint8_t{9}).bytes(), "9 dimensions");
  Writer huge = start(1);
  huge.name("a").number(uint8_t{3}).number(0xFFFFFFFFu).number(0xFFFFFFFFu).number(0xFFFFFFFFu);
  expect_refused(huge.bytes(), "too large");
  Writer missing = start(1);
  missing.name("a").number(uint8_t{1}).number(uint32_t{1000000}).number(uint8_t{0}).number(uint32_t{4000000});
  expect_refused(missing.bytes(), "should have 4000000 bytes, but 0 are left");
  Writer odd = start(1);
  odd.name("a").number(uint8_t{1}).number(uint32_t{3}).number(uint8_t{0}).number(uint32_t{8}).number(0.0).number(0.0f);
  expect_refused(odd.bytes(), "does not fit 8 bytes");
  Writer type = start(1);
  type.name("a").number(uint8_t{0}).number(uint8_t{6}).number(uint32_t{4}).number(1.0f);
  expect_refused(type.bytes(), "unknown type 6");
  expect_refused(start(0).number(uint32_t{1}).name("a").name("b").bytes(), "an alias of 'b'");
  expect_refused(start(0).number(uint32_t{0}).number(uint8_t{0}).bytes(), "1 bytes follow");
}

/// Cut off anywhere, and with any byte changed, it is read or refused, never more.
TEST(CTranslate2File, SurvivesEveryCutAndManyChanges) {
  const Bytes good = file::read_bytes(golden("ctranslate2_int8/model.bin"));
  for (size_t size = 0; size < good.size(); size += 1 + size / 64)
    EXPECT_THROW(parse(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))), Error) << size;
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    Bytes changed = good;
    changed[random() % std::min<size_t>(changed.size(), 4000)] = static_cast<std::byte>(random());
    try {
      const CTranslate2File file = parse(changed);
      for (const auto& [name, tensor] : file.tensors.all()) tensor.numbers();
    } catch (const Error&) {
    }
  }
}

Bytes llama2c_header(std::initializer_list<int32_t> sizes) {
  Writer w;
  for (const int32_t size : sizes) w.number(size);
  return w.bytes();
}

TEST(Llama2cFile, TheSizeFollowsFromTheHeader) {
  // width 4, hidden 2, 1 layer, 2 heads, 1 of keys, 3 tokens, 2 places
  const uint64_t numbers = 3 * 4 + 4 + 16 + 8 + 8 + 16 + 4 + 3 * 8 + 4 + 2 * 2 * 1;
  Bytes file = llama2c_header({4, 2, 1, 2, 1, 3, 2});
  EXPECT_TRUE(is_llama2c(file, 28 + 4 * numbers));
  EXPECT_FALSE(is_llama2c(file, 28 + 4 * numbers + 4));
  EXPECT_TRUE(is_llama2c(llama2c_header({4, 2, 1, 2, 1, -3, 2}), 28 + 4 * (numbers + 12)));
  for (const auto& bad : {llama2c_header({0, 2, 1, 2, 1, 3, 2}), llama2c_header({4, 2, 1, 3, 1, 3, 2}),
                          llama2c_header({4, 2, 1, 2, 1, INT32_MIN, 2}), llama2c_header({4, 2, 1 << 30, 2, 1, 3, 2})})
    EXPECT_FALSE(is_llama2c(bad, 28 + 4 * numbers));
  file.resize(28 + 4 * numbers);
  Llama2cFile parsed = parse_llama2c(std::make_shared<const Bytes>(file), "file");
  EXPECT_EQ(parsed.tensors.shape("wk.0"), (Shape{2, 4}));
  EXPECT_THROW(parse_llama2c(std::make_shared<const Bytes>(file.begin(), file.end() - 1), "file"), Error);
}

TEST(Llama2cFile, PiecesAreChecked) {
  Writer w;
  w.number(int32_t{3}).number(-1.0f).number(int32_t{1}).number('a');
  const auto pieces = parse_llama2c_pieces(w.bytes(), "file");
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces.front().piece, "a");
  for (const int32_t length : {-1, 1000, 2})
    EXPECT_THROW(
        parse_llama2c_pieces(Writer().number(int32_t{3}).number(0.0f).number(length).number('a').bytes(), "file"),
        Error)
        << length;
  // With room for what the longest piece leaves out, the largest number is passed: it needs more bits.
  const int32_t largest = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(
      parse_llama2c_pieces(Writer().number(largest).number(0.0f).number(int32_t{1}).number('a').bytes(), "file").size(),
      1u);
}

TEST(Import, NamesTheFormatsIfNoneFits) {
  try {
    read(golden(""), {});
    FAIL();
  } catch (const Error& error) {
    for (const Importer* importer : all())
      EXPECT_NE(std::string(error.what()).find(importer->meaning), std::string::npos) << error.what();
  }
  EXPECT_THROW(read(golden("nowhere"), {}), Error);
}

}  // namespace
}  // namespace heed::imports::test
