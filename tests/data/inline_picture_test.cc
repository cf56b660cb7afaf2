// Pictures inside a line: read as their files are, or refused with a reason.
#include "heed/data/inline_picture.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "heed/data/picture_source.h"
#include "heed/data/scenes.h"
#include "tests/base/folder.h"
#include "tests/data/jpeg_file.h"
#include "tests/data/png_by_hand.h"

namespace heed::data {
namespace {

std::string base64_of(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}
std::string inline_png(const std::string& bytes) { return "data:image/png;base64," + base64_of(bytes); }

std::string small_png() {
  return png_by_hand({9, 7, 8, 2},
                     [](int64_t y, int64_t x, int c) { return static_cast<int>(20 * y + 7 * x + 50 * c); });
}
std::string small_jpeg() { return jpeg_file({9, 7, 3}, std::vector<uint8_t>(9 * 7 * 3, 90)); }

std::string refusal(const std::string& name) {
  return heed::error_of([&] { picture_named(name, {4, 4}); });
}

TEST(InlinePictures, AreReadAsTheirFiles) {
  const Folder folder;
  for (const auto& [type, bytes] : {std::pair<std::string, std::string>("png", small_png()), {"jpeg", small_jpeg()}}) {
    const std::filesystem::path file = folder.write("x", bytes);
    const std::string name = "data:image/" + type + ";base64," + base64_of(bytes);
    EXPECT_EQ(picture_named(name).rgb, read_picture(file).rgb);
    EXPECT_EQ(picture_named(name, {3, 5}).rgb, read_picture(file, {3, 5}).rgb);
    EXPECT_EQ(size_of_named(name).width, 9);
    EXPECT_EQ(size_of_named(name).height, 7);
    EXPECT_EQ(source_in("/some/table.tsv", {name, "what"}), name + "\twhat");
  }
}

TEST(InlinePictures, EveryLengthOfBase64) {
  for (size_t length = 1; length < 70; ++length) {
    std::string bytes = "\x89PNG\r\n\x1a\n";
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(i * 83 + length);
    EXPECT_EQ(inline_picture(inline_png(bytes)).bytes, bytes);
  }
}

TEST(InlinePictures, BrokenBase64) {
  const std::string good = inline_png(small_png());
  const size_t first = good.find(',') + 1;
  expect_part(refusal(good.substr(0, good.size() - 1)), "not a multiple of 4");
  for (const char* wrong : {" ", "-", "_", "=", "\n", "\xc3", "%"}) {
    std::string broken = good;
    broken.replace(first + 9, 1, wrong);
    expect_part(refusal(broken), "letter 10 of its base64 is ");
  }
  std::string blanks = good;
  blanks.insert(first, "    ");
  expect_part(refusal(blanks), "letter 1 of its base64 is byte 32");
  expect_part(refusal("data:image/png;base64,QR=="), "bits that belong to no byte");
  expect_part(refusal("data:image/png;base64,QUF="), "bits that belong to no byte");
  expect_part(refusal("data:image/png;base64,A==="), "base64");
  expect_part(refusal("data:image/png;base64,===="), "base64");
  expect_part(refusal("data:image/png;base64,"), "no picture after the comma");
}

TEST(InlinePictures, WrongTypes) {
  for (const char* name : {"data:", "data:,", "data:image/png", "data:image/png,abcd", "data:image/gif;base64,R0lGODlh",
                           "data:text/plain;base64,QUJD", "data:image/png;base64", "data:image/PNG;base64,QUJD",
                           "data:image/png;charset=utf-8;base64,QUJD", "data:/etc/passwd", "data:../x.png"})
    expect_part(refusal(name), "begins with data:image/png;base64, or data:image/jpeg;base64,");
  expect_part(refusal("data:image/jpeg;base64," + base64_of(small_png())), "it says image/jpeg, but");
  expect_part(refusal(inline_png(small_jpeg())), "it says image/png, but");
  expect_part(refusal(inline_png("a line of text")), "neither a PNG nor a JPEG");
}

TEST(InlinePictures, DamagedOrTooLarge) {
  const std::string bytes = small_png();
  expect_part(refusal(inline_png(bytes.substr(0, bytes.size() - 9))), "cut short");
  expect_part(refusal(inline_png(png_header({40'000, 40'000, 8, 2}) + png_chunk("IDAT", "") + png_chunk("IEND", ""))),
              "40000 x 40000 pixels; at most");
  expect_part(refusal("data:image/jpeg;base64," + base64_of(small_jpeg().substr(0, 300))), "cut short");
}

/// They have the type and the size, not the picture.
TEST(InlinePictures, MessagesAreShort) {
  const std::string name = inline_png(small_png() + std::string(100'000, 'x')).substr(0, 100'003);
  EXPECT_LT(refusal(name).size(), 300u);
  EXPECT_LT(picture_label(name).size(), 100u);
  expect_part(picture_label(name), "data:image/png;base64, ");
  EXPECT_LT(refusal("data:" + std::string(100'000, 'x')).size(), 300u);
  EXPECT_EQ(picture_label("a.png"), "a.png");
  EXPECT_EQ(picture_label(std::string_view("data:\0\x1b[1m\xc3\xa4;,", 13)), "data:??[1m??;, 0 bytes");
}

TEST(InlinePictures, WhichNamesAreFiles) {
  for (const char* name : {"a.png", "/etc/passwd", "../a.png", "./data:x", "DATA:image/png;base64,AAAA", "", "scene:",
                           "scene:x", "scene:1/../../etc/passwd", "scene:-1", " scene:1", " data:x", "file:a.png"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const char* name : {"scene:17", "data:", "data:image/png;base64,AAAA", "data:../../etc/passwd"})
    EXPECT_FALSE(is_file_name(name)) << name;
}

}  // namespace
}  // namespace heed::data
