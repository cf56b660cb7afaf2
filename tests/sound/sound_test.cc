#include "heed/sound/sound.h"

#include <array>
#include <bit>
#include <cmath>

#include "heed/data/base64.h"
#include "heed/sound/npy.h"
#include "tests/base/folder.h"
#include "tests/sound/files_by_hand.h"

namespace heed::sound {
namespace {

std::vector<float> samples_of(const std::string& bytes) {
  return read_sound(SoundBytes{.bytes = bytes, .name = "x.wav"}).samples;
}
std::string complaint_about(const std::string& bytes) {
  return error_of([&] { samples_of(bytes); });
}

TEST(Wav, AllKindsOfSamplesAreRead) {
  const std::vector<float> expected = {0.0f, 0.5f, -1.0f, -0.25f};
  EXPECT_EQ(samples_of(wav({.bits = 8}, {128, 192, 0, 96})), expected);
  EXPECT_EQ(samples_of(wav({.bits = 16}, {0, 0x4000, 0x8000, 0xE000})), expected);
  EXPECT_EQ(samples_of(wav({.bits = 24}, {0, 0x400000, 0x800000, 0xE00000})), expected);
  EXPECT_EQ(samples_of(wav({.bits = 32}, {0, 0x40000000, 0x80000000, 0xE0000000})), expected);
  std::vector<uint64_t> floats, doubles;
  for (const float x : expected) floats.push_back(std::bit_cast<uint32_t>(x));
  for (const float x : expected) doubles.push_back(std::bit_cast<uint64_t>(double{x}));
  EXPECT_EQ(samples_of(wav({.tag = 3, .bits = 32}, floats)), expected);
  EXPECT_EQ(samples_of(wav({.tag = 3, .bits = 64}, doubles)), expected);
  EXPECT_EQ(samples_of(wav({.bits = 16, .extensible = true}, {0, 0x4000, 0x8000, 0xE000})), expected);
}

TEST(Wav, ChannelsAreMixedToTheirMean) {
  EXPECT_EQ(samples_of(wav({.channels = 2, .bits = 16}, {0x4000, 0, 0x8000, 0x8000})),
            (std::vector<float>{0.25f, -1.0f}));
}

TEST(Wav, OtherChunksAreSkipped) {
  const std::vector<float> expected = {0.5f};
  EXPECT_EQ(samples_of(wav({.bits = 16, .before = chunk("LIST", "odd")}, {0x4000})), expected);
  EXPECT_EQ(samples_of(wav({.bits = 16, .after = chunk("LIST", "what follows")}, {0x4000})), expected);
  EXPECT_EQ(samples_of(wav({.bits = 16, .data_size = 0xFFFFFFFF}, {0x4000})), expected);  // written to a pipe
}

TEST(Wav, IsWrittenAsItIsRead) {
  const Sound sound{.rate = 44'100, .samples = {0.1f, -0.7f, 1.5f}};
  const Sound again = read_sound(SoundBytes{.bytes = wav_of(sound), .name = "x"});
  EXPECT_EQ(again.rate, 44'100);
  EXPECT_EQ(again.samples, sound.samples);
}

TEST(Wav, WhatIsWrongIsRefusedWithItsReason) {
  const std::string good = wav({.bits = 16}, {1, 2, 3});
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string error = complaint_about(good.substr(0, size));
    expect_part(error, size < 1 ? "empty" : size < 12 ? "neither WAV nor FLAC" : "it");
    expect_part(error, "'x.wav'");
  }
  expect_part(complaint_about(good.substr(0, good.size() - 1)), "6 bytes of samples are announced, and 5 are there");
  expect_part(complaint_about(wav({.bits = 16}, {})), "no samples");
  expect_part(complaint_about(wav({.tag = 85, .bits = 16}, {1})), "format 85");
  expect_part(complaint_about(wav({.bits = 12}, {1})), "12 bits");
  expect_part(complaint_about(wav({.tag = 3, .bits = 16}, {1})), "32 or 64");
  expect_part(complaint_about(wav({.channels = 0, .bits = 16}, {1})), "0 channels");
  expect_part(complaint_about(wav({.rate = 10, .bits = 16}, {1})), "10 samples of a second");
  expect_part(complaint_about(wav({.bits = 16, .block = 3}, {1})), "3");
  expect_part(complaint_about(wav({.channels = 2, .bits = 16}, {1, 2, 3})), "whole number of moments");
  expect_part(complaint_about(wav({.tag = 3, .bits = 32}, {0x7F800000})), "sample 1 is inf");
  expect_part(complaint_about("RIFF....WAVE" + chunk("data", "ab")), "before the chunk 'fmt '");
  expect_part(complaint_about("RIFF....WAVE"), "no chunk 'fmt '");
  expect_part(complaint_about("ID3 an MP3 file"), "ffmpeg");
  expect_part(error_of([] { read_sound(std::filesystem::path("/nowhere/x.wav")); }), "/nowhere/x.wav");
}

// Written by libFLAC: sixteen samples of two channels.
TEST(Flac, IsReadWhereTheLibraryIs) {
  const std::string bytes = data::from_base64(
      "ZkxhQwAAACIQABAAAAAmAAAmAfQC8AAAABBxVulOwGRveBY77fCGc11+hAAAKCAAAAByZWZlcmVuY2UgbGliRkxBQyAxLjQuMyAyMDIzMDYyMwAA"
      "AAD/+GSIAA/FAwAKxCxCxCxAgJxAAAhB4gAAQg8QAAIQeIAAEILp4g==",
      "a FLAC file");
  if (!reads_flac()) {
    expect_part(complaint_about(bytes), "libsndfile");
    GTEST_SKIP() << "no libsndfile";
  }
  const Sound sound = read_sound(SoundBytes{.bytes = bytes, .name = "x.flac"});
  EXPECT_EQ(sound.rate, 8000);
  ASSERT_EQ(sound.samples.size(), 16u);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(sound.samples[i], (std::array{0.25f, -0.5f, 0.25f, 0.5f / 32768}[i % 4])) << i;
  for (size_t size = 4; size + 1 < bytes.size(); ++size) EXPECT_FALSE(complaint_about(bytes.substr(0, size)).empty());
}

TEST(Pcm, IsWavWithoutAHeader) {
  EXPECT_EQ(sound_of_pcm(std::string("\0\x40\0\x80", 4), 8000).samples, (std::vector<float>{0.5f, -1.0f}));
  expect_part(error_of([] { sound_of_pcm("abc", 8000); }), "3 bytes");
  expect_part(error_of([] { sound_of_pcm("", 8000); }), "no samples");
  expect_part(error_of([] { sound_of_pcm("ab", 8); }), "8 samples of a second");
}

TEST(Npy, FramesOfFloatsAndDoublesAreRead) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string numbers = bytes_of<float>({1, 2, 3, 4, 5, -0.5f});
  for (const int version : {1, 2, 3}) {
    const Frames frames = npy_frames(npy(header, numbers, version));
    EXPECT_EQ(frames.rows, 2);
    EXPECT_EQ(frames.columns, 3);
    EXPECT_EQ(frames.values, (std::vector<float>{1, 2, 3, 4, 5, -0.5f}));
  }
  const Frames one =
      npy_frames(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", bytes_of<double>({0.25}), 1));
  EXPECT_EQ(one.values, std::vector<float>{0.25f});
}

TEST(Npy, WhatIsWrongIsRefusedWithItsReason) {
  const std::string numbers = bytes_of<float>({1, 2, 3, 4, 5, 6});
  const auto error = [&](const std::string& header, const std::string& all) {
    return error_of([&] { npy_frames(npy(header, all, 1)); });
  };
  expect_part(error("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", numbers), "'<i4'");
  expect_part(error("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", numbers), "column by column");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", numbers), "two axes");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }", numbers), "two axes");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", numbers), "have 32 bytes, and 24");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }", ""), "empty");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }", ""), "two axes");
  expect_part(error("{'descr': '<f4', 'shape': (2, 3), }", numbers), "fortran_order");
  expect_part(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", bytes_of<float>({NAN})), "nan");
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", numbers, 2);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(error_of([&] { npy_frames(good.substr(0, size)); }).empty());
}

}  // namespace
}  // namespace heed::sound
