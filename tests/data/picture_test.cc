// slow: 4 s
#include "heed/data/picture.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/interrupt.h"
#include "tests/base/folder.h"
#include "tests/data/jpeg_file.h"
#include "tests/data/png_by_hand.h"

namespace heed::data {
namespace {

// ----------------------------------------------------------------------------------------------------------------- PNG

/// Some number below `values`, different from pixel to pixel.
int some_sample(int64_t y, int64_t x, int channel, int values) {
  return static_cast<int>((37 * y + 101 * x + 59 * channel + y * x) % values);
}

uint8_t over_white(int value, int alpha) {
  return static_cast<uint8_t>(std::floor((value * alpha + 255.0 * (255 - alpha)) / 255.0 + 0.5));
}

struct PngCase {
  const char* name;
  PngKind kind;
  /// What a pixel is, from its samples.
  std::function<std::array<int, 3>(const std::array<int, 4>&)> colour;
};

std::vector<PngCase> png_cases() {
  const auto rgb = [](const std::array<int, 4>& s) { return std::array<int, 3>{s[0], s[1], s[2]}; };
  const auto grey = [](int most) {
    return [most](const std::array<int, 4>& s) {
      const int v = s[0] * 255 / most;
      return std::array<int, 3>{v, v, v};
    };
  };
  const auto of_16 = [](int v) {
    return (v * 255 + 32895) >> 16;
  };  // round(v / 257), as the specification of PNG has it
  const std::string palette("\x01\x02\x03\xff\x80\x00\x10\x20\x30\x63\x64\x65", 12);
  const auto entry = [palette](int i, int c) {
    const int at = 3 * i + c;
    return static_cast<uint8_t>(palette[static_cast<size_t>(at)]);
  };
  const std::string clear("\xff\x80\x00", 3);  // of the first three entries
  return {
      {"rgb", {13, 9, 8, 2}, rgb},
      {"rgb_interlaced", {13, 9, 8, 2, true}, rgb},
      {"rgb_interlaced_of_one_pixel", {1, 1, 8, 2, true}, rgb},
      {"rgb_alpha",
       {5, 4, 8, 6},
       [](const std::array<int, 4>& s) {
         return std::array<int, 3>{over_white(s[0], s[3]), over_white(s[1], s[3]), over_white(s[2], s[3])};
       }},
      {"rgb_of_16_bits",
       {7, 3, 16, 2},
       [=](const std::array<int, 4>& s) {
         return std::array<int, 3>{of_16(s[0]), of_16(s[1]), of_16(s[2])};
       }},
      {"grey", {6, 5, 8, 0}, grey(255)},
      {"grey_of_1_bit", {11, 5, 1, 0}, grey(1)},
      {"grey_of_2_bits_interlaced", {11, 9, 2, 0, true}, grey(3)},
      {"grey_of_4_bits", {11, 5, 4, 0}, grey(15)},
      {"grey_alpha",
       {4, 4, 8, 4},
       [](const std::array<int, 4>& s) {
         const int v = over_white(s[0], s[1]);
         return std::array<int, 3>{v, v, v};
       }},
      {"palette",
       {9, 4, 2, 3, false, palette},
       [=](const std::array<int, 4>& s) {
         return std::array<int, 3>{entry(s[0], 0), entry(s[0], 1), entry(s[0], 2)};
       }},
      {"palette_with_transparency",
       {9, 4, 8, 3, false, palette, clear},
       [=](const std::array<int, 4>& s) {
         const int alpha = s[0] < 3 ? static_cast<uint8_t>(clear[static_cast<size_t>(s[0])]) : 255;
         std::array<int, 3> all;
         for (int c = 0; c < 3; ++c) all[static_cast<size_t>(c)] = over_white(entry(s[0], c), alpha);
         return all;
       }},
  };
}

class PngTest : public testing::TestWithParam<PngCase> {};

TEST_P(PngTest, IsReadAsItWasWritten) {
  const PngKind& kind = GetParam().kind;
  const int values = kind.colour == 3 ? 4 : 1 << kind.bits;
  const auto sample = [&](int64_t y, int64_t x, int c) {
    return kind.bits == 16 ? some_sample(y, x, c, 256) * 256 + some_sample(x, y, c, 256) : some_sample(y, x, c, values);
  };
  const Folder folder;
  const auto file = folder.write("x.png", png_by_hand(kind, sample));
  EXPECT_EQ(size_of_picture(file).width, kind.width);
  const Picture picture = read_picture(file);
  ASSERT_EQ(picture.height, kind.height);
  ASSERT_EQ(picture.width, kind.width);
  for (int64_t y = 0; y < kind.height; ++y)
    for (int64_t x = 0; x < kind.width; ++x) {
      std::array<int, 4> samples{};
      for (int c = 0; c < kind.channels(); ++c) samples[static_cast<size_t>(c)] = sample(y, x, c);
      const std::array<int, 3> right = GetParam().colour(samples);
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(picture.pixel(y, x)[c], right[static_cast<size_t>(c)]) << y << " " << x << " " << c;
    }
}

INSTANTIATE_TEST_SUITE_P(, PngTest, testing::ValuesIn(png_cases()), [](const auto& i) { return i.param.name; });

Picture noise(int64_t height, int64_t width, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Picture picture(height, width);
  for (uint8_t& value : picture.rgb) value = static_cast<uint8_t>(random() % 256);
  return picture;
}

/// Waves: JPEG keeps them nearly as they are.
Picture smooth(int64_t height, int64_t width) {
  Picture picture(height, width);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.pixel(y, x)[c] = static_cast<uint8_t>(
            128 + 100 * std::sin(0.15 * static_cast<double>(y + c) + 0.1 * static_cast<double>(x)));
  return picture;
}

TEST(Pictures, AWrittenPngIsReadAgain) {
  const Picture picture = noise(17, 23);
  const Folder folder;
  EXPECT_EQ(read_picture(folder.write("x.png", png_of(picture))).rgb, picture.rgb);
}

// ------------------------------------------------------------------------------------------------------------- scaling

TEST(Pictures, ScalingAveragesAreas) {
  for (const auto& [from, to] : {std::pair<PictureSize, PictureSize>{{7, 5}, {3, 2}},
                                 {{8, 6}, {4, 2}},
                                 {{3, 2}, {5, 7}},
                                 {{4, 4}, {4, 4}},
                                 {{1, 1}, {3, 3}}}) {
    const Picture picture = noise(from.height, from.width);
    const Picture got = scaled(picture, to);
    ASSERT_EQ(got.height, to.height);
    ASSERT_EQ(got.width, to.width);
    // The length that [i, i + 1) of `many` and the j-th of `few` parts have in common, on a line of length `many`.
    const auto overlap = [](int64_t i, int64_t many, int64_t j, int64_t few) {
      const double part = static_cast<double>(many) / static_cast<double>(few);
      return std::max(0.0, std::min(static_cast<double>(i + 1), part * static_cast<double>(j + 1)) -
                               std::max(static_cast<double>(i), part * static_cast<double>(j)));
    };
    for (int64_t v = 0; v < to.height; ++v)
      for (int64_t u = 0; u < to.width; ++u)
        for (int c = 0; c < 3; ++c) {
          double sum = 0, area = 0;
          for (int64_t y = 0; y < from.height; ++y)
            for (int64_t x = 0; x < from.width; ++x) {
              const double part = overlap(y, from.height, v, to.height) * overlap(x, from.width, u, to.width);
              sum += part * picture.pixel(y, x)[c];
              area += part;
            }
          EXPECT_NEAR(got.pixel(v, u)[c], sum / area, 0.5 + 1e-9);
        }
  }
}

TEST(Pictures, AFileIsScaledAsAPictureIs) {
  const Picture picture = noise(30, 41);
  const Folder folder;
  const auto file = folder.write("x.png", png_of(picture));
  EXPECT_EQ(read_picture(file, {7, 9}).rgb, scaled(picture, {7, 9}).rgb);
}

// ---------------------------------------------------------------------------------------------------------------- JPEG

void expect_close(const Picture& got, const Picture& right, double tolerance) {
  ASSERT_EQ(got.height, right.height);
  ASSERT_EQ(got.width, right.width);
  for (size_t i = 0; i < got.rgb.size(); ++i) ASSERT_NEAR(got.rgb[i], right.rgb[i], tolerance) << i;
}

TEST(Pictures, Jpeg) {
  const Folder folder;
  const Picture picture = smooth(33, 50);
  for (const bool progressive : {false, true})
    expect_close(read_picture(folder.write("x.jpg", jpeg_file({50, 33, 3, progressive}, picture.rgb))), picture, 6);
}

TEST(Pictures, GreyJpeg) {
  const Folder folder;
  const Picture picture = smooth(33, 50);
  std::vector<uint8_t> grey;
  Picture right(33, 50);
  for (int64_t i = 0; i < 33 * 50; ++i) {
    grey.push_back(picture.rgb[static_cast<size_t>(3 * i)]);
    for (int64_t c = 0; c < 3; ++c) right.rgb[static_cast<size_t>(3 * i + c)] = grey.back();
  }
  expect_close(read_picture(folder.write("x.jpg", jpeg_file({50, 33, 1}, grey))), right, 3);
}

// R = 255 (1 - C) (1 - K), and Adobe stores the inks the other way round.
TEST(Pictures, JpegOfInks) {
  const Folder folder;
  for (const bool adobe : {true, false}) {
    std::vector<uint8_t> inks;
    Picture right(16, 16);
    for (int64_t i = 0; i < 256; ++i) {
      for (const int ink : {40, 120, 200, 30}) inks.push_back(static_cast<uint8_t>(adobe ? 255 - ink : ink));
      for (int c = 0; c < 3; ++c)
        right.rgb[static_cast<size_t>(3 * i + c)] =
            static_cast<uint8_t>(std::lround((255.0 - std::array{40, 120, 200}[static_cast<size_t>(c)]) * 225 / 255));
    }
    expect_close(read_picture(folder.write("x.jpg", jpeg_file({16, 16, 4, false, adobe}, inks))), right, 3);
  }
}

// ------------------------------------------------------------------------------------------------------ what is broken

struct GoodFile {
  const char* name;
  std::string bytes;
};

std::vector<GoodFile> good_files() {
  const Picture picture = smooth(19, 14);
  const auto sample = [&](int64_t y, int64_t x, int c) { return picture.pixel(y, x)[c]; };
  return {{"png", png_by_hand({14, 19, 8, 2}, sample)},
          {"interlaced_png", png_by_hand({14, 19, 8, 2, true}, sample)},
          {"jpeg", jpeg_file({14, 19}, picture.rgb)},
          {"progressive_jpeg", jpeg_file({14, 19, 3, true}, picture.rgb)}};
}

class BrokenPictureTest : public testing::TestWithParam<GoodFile> {};

TEST_P(BrokenPictureTest, AFileThatIsCutShortIsRefused) {
  const std::string& bytes = GetParam().bytes;
  const Folder folder;
  EXPECT_EQ(read_picture(folder.write("x", bytes)).width, 14);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto file = folder.write("x", bytes.substr(0, length));
    const std::string said = error_of([&] { read_picture(file, {8, 8}); });
    ASSERT_NE(said.find(file.string()), std::string::npos) << "at byte " << length << ": " << said;
  }
}

TEST_P(BrokenPictureTest, AChangedByteIsAnErrorOrAnotherPicture) {
  const Folder folder;
  std::mt19937_64 random(3);
  int refused = 0;
  for (size_t at = 0; at < GetParam().bytes.size(); ++at) {
    std::string bytes = GetParam().bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 + random() % 255));
    const auto file = folder.write("x", bytes);
    try {
      const Picture picture = read_picture(file, {8, 8});
      EXPECT_EQ(picture.rgb.size(), 8u * 8 * 3);
    } catch (const Error& error) {
      ++refused;
      expect_part(error.what(), file.string());
    } catch (const NotEnoughMemory&) {  // of an interlaced or progressive picture that promises too much
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(, BrokenPictureTest, testing::ValuesIn(good_files()),
                         [](const auto& i) { return i.param.name; });

// Each scan goes through all pixels: a small file with many of them must not take hours.
TEST(Pictures, ManyScansAreRefused) {
  const Folder folder;
  const Picture picture = smooth(16, 16);
  const std::string bytes = jpeg_file({16, 16, 3, false, true, true}, picture.rgb);
  expect_close(read_picture(folder.write("x.jpg", bytes)), picture, 6);
  const std::string start = "\xff\xda";  // of a scan
  const size_t first = bytes.find(start), second = bytes.find(start, first + 1);
  ASSERT_NE(second, std::string::npos);
  const auto repeated = [&](int times) {
    std::string all = bytes.substr(0, first);
    for (int i = 0; i < times; ++i) all += bytes.substr(first, second - first);
    return all + bytes.substr(second);
  };
  expect_close(read_picture(folder.write("x.jpg", repeated(20))), picture, 6);
  const auto file = folder.write("x.jpg", repeated(1000));
  expect_part(error_of([&] { read_picture(file); }), "more than 200 scans");
}

TEST(Pictures, WhatIsNoPicture) {
  const Folder folder;
  const auto said = [](const std::filesystem::path& file) { return error_of([&] { read_picture(file); }); };
  expect_part(said(folder / "none.png"), "cannot open the picture");
  expect_part(said(folder / ""), "a folder");
  expect_part(said(folder.write("empty.png", "")), "the file is empty");
  expect_part(said(folder.write("text.png", "a line of text\n")), "neither a PNG nor a JPEG");
}

/// A PNG whose header promises this many pixels, and which then ends.
std::string promise(int64_t width, int64_t height, bool interlaced = false) {
  return png_header({width, height, 8, 2, interlaced}) + png_chunk("IDAT", "") + png_chunk("IEND", "");
}

TEST(Pictures, PromisesOfManyPixels) {
  const Folder folder;
  const auto said = [&](const std::string& bytes) {
    const auto file = folder.write("x.png", bytes);
    return error_of([&] { read_picture(file, {32, 32}); });
  };
  expect_part(said(promise(40'000, 40'000)), "40000 x 40000 pixels; at most");
  expect_part(said(promise(1'000'000, 1)), "at most 268435456 in all and 65535 to a side");
  expect_part(said(promise(0, 5)), "damaged");
  expect_part(said(promise(10'000, 10'000)), "cut short");  // allowed, and nothing is allocated for it
  const auto file = folder.write("x.png", promise(10'000, 10'000));
  EXPECT_EQ(size_of_picture(file).height, 10'000);
}

TEST(Pictures, AThreadMayReadFewerPixels) {
  const Picture picture(10, 20, 7);
  const PictureBytes file{png_of(picture), "small.png"};
  {
    const PixelLimit limit(199);
    try {
      size_of_picture(file);
      FAIL() << "it has 200 pixels";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("at most 199 in all"), std::string::npos) << error.what();
    }
    EXPECT_THROW(read_picture(file), Error);
    const PixelLimit enough(200);
    EXPECT_EQ(read_picture(file).rgb, picture.rgb);
  }
  EXPECT_EQ(PixelLimit::of_this_thread(), kMostPixels);
}

/// Whoever wants no more of it need not wait for all of its rows.
TEST(Pictures, ReadingIsInterrupted) {
  for (const auto& [name, bytes] : good_files()) {
    const PictureBytes file{bytes, name};
    EXPECT_NO_THROW(read_picture(file));
    const kernels::Interruptible now([] { return true; });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // it is not asked more often
    EXPECT_THROW(read_picture(file), Interrupted) << name;
  }
}

TEST(Pictures, AHundredMegapixels) {
  // A white disc on black, in one bit for each pixel.
  constexpr int64_t kSide = 10'000;
  const auto sample = [](int64_t y, int64_t x, int) {
    const int64_t dy = y - kSide / 2, dx = x - kSide / 2;
    return dy * dy + dx * dx < kSide * kSide / 9 ? 1 : 0;
  };
  const Folder folder;
  const auto file = folder.write("x.png", png_by_hand({kSide, kSide, 1, 0}, sample));
  const Picture picture = read_picture(file, {4, 4});
  double mean = 0;
  for (const uint8_t value : picture.rgb) mean += value / 255.0 / 48;
  EXPECT_NEAR(mean, 3.14159 / 9, 2e-3);
  EXPECT_EQ(picture.pixel(0, 0)[0], 0);
  EXPECT_GT(picture.pixel(1, 1)[0], 200);
}

}  // namespace
}  // namespace heed::data
