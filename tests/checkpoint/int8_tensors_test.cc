// Matrices of int8 in files of tensors: their integers with the scales before them, which are one tensor here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/disk.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/tensor_stream.h"
#include "heed/checkpoint/weights.h"
#include "heed/tensor/format/all.h"
#include "tests/base/temporary.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Safetensors;
using file::TensorToWrite;

std::string int8_header_of(const std::vector<std::byte>& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return {reinterpret_cast<const char*>(bytes.data()) + 8, length};
}

/// A file with this header and `size` bytes of zeros.
std::vector<std::byte> file_of(std::string header, size_t size) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::vector<std::byte> bytes(8 + header.size() + size);
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

TEST(Int8Tensors, AreIntegersAfterTheirScales) {
  const std::vector<float> x = {127, -127, 0.5f, 0, 254, -3};
  const std::vector<TensorToWrite> tensors = {{"rows", {2, 3}, x.data(), Dtype::i8},
                                              {"columns", {2, 3}, x.data(), Dtype::i8, true}};
  const std::vector<std::byte> bytes = file::safetensors_bytes(tensors);
  const std::string header = int8_header_of(bytes);
  EXPECT_EQ(header.substr(0, header.find_last_not_of(' ') + 1),
            R"({"rows.scale":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
            R"("rows":{"dtype":"I8","shape":[2,3],"data_offsets":[8,14]},)"
            R"("columns.scale":{"dtype":"F32","shape":[1,3],"data_offsets":[14,26]},)"
            R"("columns":{"dtype":"I8","shape":[2,3],"data_offsets":[26,32]}})");
  const Safetensors back(bytes, "f");
  ASSERT_EQ(back.tensors().size(), 2u) << "the scales are part of theirs";
  EXPECT_EQ(back.at("rows").dtype, Dtype::i8);
  EXPECT_EQ(back.at("rows").count(), 6u);
  EXPECT_EQ(back.values("rows"), (std::vector<float>{127, -127, 0, 0, 254, -4})) << "scales 1 and 2; -1.5 is a tie";
  const std::vector<float> columns = back.values("columns");
  EXPECT_EQ(columns[0], 127);
  EXPECT_EQ(columns[3], 0);
  EXPECT_EQ(columns[4], 254);
  EXPECT_EQ(columns[1], -128) << "the scale is 2, and -63.5 is a tie";
  EXPECT_EQ(file::tensor_bytes(tensors[0]), 14u);
}

/// The numbers of a file are those that a weight gives back which was packed in memory, to the last bit.
TEST(Int8Tensors, AreTheNumbersOfTheFormatInMemory) {
  const TemporaryFolder folder;
  const std::vector<float> w = to_float(random(301, 423));  // more than are converted at a time
  for (const WeightOrder order : {WeightOrder::out_in, WeightOrder::in_out}) {
    const bool out_in = order == WeightOrder::out_in;
    const auto packed = int8_weights.pack({w.data(), out_in ? 423 : 301, out_in ? 301 : 423, order});
    std::vector<float> right(w.size());
    packed->unpack(order, right.data());
    const std::vector<float> other = {1, 2, 3};
    file::write_safetensors(folder / "w", std::vector<TensorToWrite>{{"a", {3}, other.data()},
                                                                     {"w", {301, 423}, w.data(), Dtype::i8, !out_in},
                                                                     {"z", {3}, other.data(), Dtype::bf16}});
    EXPECT_EQ(Safetensors::read(folder / "w").values("w"), right);
    file::InputFile input(folder / "w");
    file::TensorStream stream(input, "f");
    for (const file::StoredTensor& tensor : stream.tensors()) {
      std::vector<float> numbers(tensor.count());
      stream.read(numbers);
      EXPECT_EQ(numbers, tensor.name == "w" ? right : other) << tensor.name;
    }
  }
}

TEST(Int8Tensors, WithoutScalesAreRefused) {
  const auto error_of_file = [](const std::string& header, size_t size, const std::string& message) {
    expect_error([&] { Safetensors(file_of(header, size), "f"); }, message);
  };
  error_of_file(R"({"x":{"dtype":"I8","shape":[2,3],"data_offsets":[0,6]}})", 6,
                "'f': tensor 'x' has type I8; only F64, F32, F16 and BF16 are supported, and I8 where its scales stand "
                "just before it, as 'x.scale'");
  error_of_file(R"({"x":{"dtype":"I8","shape":[2,3],"data_offsets":[0,6]},)"
                R"("x.scale":{"dtype":"F32","shape":[2,1],"data_offsets":[6,14]}})",
                14,
                "'f': tensor 'x' has type I8; only F64, F32, F16 and BF16 are supported, and I8 where its scales stand "
                "just before it, as 'x.scale'");
  error_of_file(R"({"x.scale":{"dtype":"F32","shape":[3,1],"data_offsets":[0,12]},)"
                R"("x":{"dtype":"I8","shape":[2,3],"data_offsets":[12,18]}})",
                18, "'f': the scales of tensor 'x' must be F32, one for each row or column of [2, 3], not F32 [3, 1]");
  error_of_file(R"({"x.scale":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
                R"("x":{"dtype":"I8","shape":[2,3],"data_offsets":[4,10]}})",
                10, "'f': the scales of tensor 'x' must be F32, one for each row or column of [2, 3], not BF16 [2, 1]");
}

TEST(Int8Tensors, WhatHasNoScaleIsNotWritten) {
  const std::vector<float> x = {1, 2, std::numeric_limits<float>::infinity(), 4};
  expect_error(
      [&] {
        file::safetensors_bytes(std::vector<TensorToWrite>{{"x", {2, 2}, x.data(), Dtype::i8}});
      },
      "cannot write tensor 'x' as int8: a number in row 1 is infinite or NaN");
  expect_error(
      [&] {
        file::safetensors_bytes(std::vector<TensorToWrite>{{"x", {2}, x.data(), Dtype::i8}});
      },
      "cannot write tensor 'x' as int8: it is no matrix, but [2]");
  expect_error(
      [&] {
        file::safetensors_bytes(
            std::vector<TensorToWrite>{{"x.scale", {2}, x.data()}, {"x", {1, 2}, x.data(), Dtype::i8}});
      },
      "cannot write two tensors with the name 'x.scale'");
}

}  // namespace
}  // namespace heed::test
