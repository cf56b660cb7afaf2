#include "heed/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/tensor_stream.h"
#include "heed/checkpoint/weights.h"
#include "tests/base/temporary.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Safetensors;
using file::TensorToWrite;

std::string header_of(const std::vector<std::byte>& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return {reinterpret_cast<const char*>(bytes.data()) + 8, length};
}

TEST(Safetensors, WhatIsWrittenIsWhatTheFormatSays) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {7};
  const std::vector<TensorToWrite> tensors = {{"a", {2, 3}, a.data()}, {"b", {}, b.data()}, {"none", {0, 4}, nullptr}};
  const auto bytes = file::safetensors_bytes(tensors, {{"format", "heed"}});
  EXPECT_EQ(header_of(bytes),
            R"({"__metadata__":{"format":"heed"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
            R"("b":{"dtype":"F32","shape":[],"data_offsets":[24,28]},)"
            R"("none":{"dtype":"F32","shape":[0,4],"data_offsets":[28,28]}}    )");
  EXPECT_EQ(header_of(bytes).size() % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + header_of(bytes).size() + 28);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the file has the very bits.
  EXPECT_EQ(std::memcmp(bytes.data() + bytes.size() - 28, a.data(), 24), 0);
  EXPECT_EQ(header_of(file::safetensors_bytes({})), "{}      ");
}

TEST(Safetensors, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> odd = {0.0f, -0.0f, inf, -inf, std::nanf("7"), 1e-45f, std::numeric_limits<float>::max()};
  const std::vector<float> one = {-3.25f};
  const std::vector<TensorToWrite> tensors = {
      {"odd \"\\\n\x01 \xc3\xa9", {7, 1}, odd.data()}, {"one", {1}, one.data()}, {"", {0}, nullptr}};
  const file::Metadata metadata = {{"", "\xe2\x82\xac"}, {"key", "line\nline"}};
  file::write_safetensors(folder / "t.safetensors", tensors, metadata);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"t.safetensors"});

  const Safetensors back = Safetensors::read(folder / "t.safetensors");
  EXPECT_EQ(back.file(), (folder / "t.safetensors").string());
  EXPECT_EQ(back.metadata(), metadata);
  ASSERT_EQ(back.tensors().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.tensors()[i].name, tensors[i].name);
    EXPECT_EQ(back.tensors()[i].shape, tensors[i].shape);
  }
  const std::vector<float> values = back.values(tensors[0].name);
  ASSERT_EQ(values.size(), odd.size());
  EXPECT_EQ(std::memcmp(values.data(), odd.data(), odd.size() * sizeof(float)), 0) << "not bit for bit the same";
  EXPECT_EQ(back.values("one"), one);
  EXPECT_TRUE(back.values("").empty());
}

TEST(Safetensors, ReadsTheReferenceImplementation) {
  // tests/golden/make_safetensors.py wrote it with the safetensors package of PyPI.
  const Safetensors golden = Safetensors::read(HEED_TEST_DATA "/../golden/small.safetensors");
  EXPECT_EQ(golden.metadata(), (file::Metadata{{"framework", "numpy"}, {"note", "written by safetensors \xc3\xa9"}}));
  ASSERT_EQ(golden.tensors().size(), 5u);
  EXPECT_EQ(golden.at("encoder.0.weight").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(golden.values("encoder.0.weight"), (std::vector<float>{0.0f, 0.5f, -1.0f, 1.5f, -2.0f, 2.5f}));
  EXPECT_EQ(golden.at("scalar").shape, std::vector<int64_t>{});
  EXPECT_EQ(golden.values("scalar"), std::vector<float>{3.14159274f});
  EXPECT_EQ(golden.at("empty").shape, (std::vector<int64_t>{0, 7}));
  EXPECT_TRUE(golden.values("empty").empty());
  EXPECT_EQ(golden.values("name with \"quotes\" \xc3\xa9"), (std::vector<float>{1e-45f, 3.4028235e38f}));
  const std::vector<float> odd = golden.values("odd");
  ASSERT_EQ(odd.size(), 4u);
  EXPECT_TRUE(std::isinf(odd[0]) && odd[0] > 0 && std::isinf(odd[1]) && odd[1] < 0 && std::isnan(odd[2]));
  EXPECT_TRUE(odd[3] == 0 && std::signbit(odd[3]));
}

TEST(Safetensors, OffsetsBeyond4GB) {
  // Only the header: the numbers would fill a disk.
  const auto header = file::parse_safetensors_header(
      R"({"small":{"dtype":"F32","shape":[3],"data_offsets":[20000000000,20000000012]},)"
      R"("large":{"dtype":"F32","shape":[50000,100000],"data_offsets":[0,20000000000]}})",
      20000000012, "f");
  ASSERT_EQ(header.tensors.size(), 2u);
  EXPECT_EQ(header.tensors[0].name, "large");
  EXPECT_EQ(header.tensors[0].end, 20000000000u);
  EXPECT_EQ(header.tensors[1].begin, 20000000000u);
  EXPECT_EQ(file::tensor_bytes(header.tensors[0].shape), 20000000000u);
  // 2^32 bytes too many or too few are not the same.
  expect_error(
      [] {
        file::parse_safetensors_header(R"({"x":{"dtype":"F32","shape":[1073741825],"data_offsets":[0,4]}})", 4, "f");
      },
      "'f': tensor 'x' of shape [1073741825] needs 4294967300 bytes, but its data_offsets hold 4");
  expect_error(
      [] {
        file::parse_safetensors_header(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4294967296,4294967300]}})",
                                       4294967300, "f");
      },
      "'f': no tensor covers the bytes from 0 to 4294967296, before tensor 'x'");
  expect_error(
      [] {
        file::parse_safetensors_header(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4294967300, "f");
      },
      "'f': 4294967296 bytes follow the last tensor");
}

TEST(Safetensors, NumbersAtAnyByte) {
  // Other writers do not pad: the numbers then begin at an odd address.
  const std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})" + std::string(3, ' ');
  std::vector<std::byte> bytes(8 + header.size() + 8);
  const uint64_t length = header.size();
  ASSERT_EQ(length % 4, 1u);
  const float values[] = {1.5f, -2.5f};
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), length);
  std::memcpy(bytes.data() + 8 + length, values, 8);
  EXPECT_EQ(Safetensors(bytes, "f").values("x"), (std::vector<float>{1.5f, -2.5f}));
}

TEST(Safetensors, WritesAndReadsOtherTypes) {
  const TemporaryFolder folder;
  const std::vector<float> x = {1.0f, -0.333333343f, 65504.0f, 0x1p-24f, 0.0f};
  const std::vector<TensorToWrite> tensors = {{"double", {5}, x.data(), Dtype::f64},
                                              {"half", {5, 1}, x.data(), Dtype::f16},
                                              {"brain", {1, 5}, x.data(), Dtype::bf16},
                                              {"single", {5}, x.data()},
                                              {"none", {0, 4}, nullptr, Dtype::f16}};
  file::write_safetensors(folder / "t.safetensors", tensors);
  const Safetensors back = Safetensors::read(folder / "t.safetensors");
  EXPECT_EQ(back.at("half").end - back.at("half").begin, 10u);
  for (const TensorToWrite& tensor : tensors) EXPECT_EQ(back.at(tensor.name).dtype, tensor.dtype);
  EXPECT_EQ(back.values("double"), x);
  EXPECT_EQ(back.values("single"), x);
  EXPECT_EQ(back.values("half"), (std::vector<float>{1.0f, -0.333251953125f, 65504.0f, 0x1p-24f, 0.0f}));
  EXPECT_EQ(back.values("brain"), (std::vector<float>{1.0f, -0.333984375f, 65536.0f, 0x1p-24f, 0.0f}));
  // Tensor by tensor, the same.
  file::InputFile input(folder / "t.safetensors");
  file::TensorStream stream(input, "f");
  for (const file::StoredTensor& tensor : stream.tensors()) {
    std::vector<float> numbers(tensor.count());
    stream.read(numbers);
    EXPECT_EQ(numbers, back.values(tensor.name)) << tensor.name;
  }
}

/// More numbers than are converted at a time.
TEST(Safetensors, ManyNumbersOfOtherTypes) {
  const TemporaryFolder folder;
  std::vector<float> x(200'000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 2048) - 1024.0f;  // whole numbers: exact
  for (const Dtype type : {Dtype::f64, Dtype::f16, Dtype::f32}) {
    file::write_safetensors(folder / "t.safetensors", std::vector<TensorToWrite>{{"x", {200'000}, x.data(), type}});
    EXPECT_EQ(Safetensors::read(folder / "t.safetensors").values("x"), x);
    file::InputFile input(folder / "t.safetensors");
    file::TensorStream stream(input, "f");
    std::vector<float> numbers(x.size());
    stream.read(numbers);
    EXPECT_EQ(numbers, x);
  }
  x[150'000] = 70000.0f;
  expect_error(
      [&] {
        file::write_safetensors(folder / "n", std::vector<TensorToWrite>{{"x", {200'000}, x.data(), Dtype::f16}});
      },
      "cannot write tensor 'x' as float16: 70000 at index 150000 is too large for it; use float32");
  EXPECT_FALSE(fs::exists(folder / "n"));
}

TEST(Safetensors, Float64TooLargeForFloat32) {
  const std::string header = R"({"x":{"dtype":"F64","shape":[3],"data_offsets":[0,24]}})";
  std::vector<std::byte> bytes(8 + header.size() + 24);
  const uint64_t length = header.size();
  const double values[] = {1.0, std::numeric_limits<double>::infinity(), -1e39};
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), length);
  std::memcpy(bytes.data() + 8 + length, values, 24);
  expect_error([&] { Safetensors(bytes, "f").values("x"); },
               "'f': tensor 'x' holds a number at index 2 that is too large for float32");
}

TEST(Safetensors, RefusesToWriteWhatCannotBe) {
  const float x = 0;
  const auto expect_refused = [](std::vector<TensorToWrite> tensors, const std::string& message) {
    expect_error([&] { file::safetensors_bytes(tensors); }, message);
  };
  expect_refused({{"x", {1}, &x}, {"x", {1}, &x}}, "cannot write two tensors with the name 'x'");
  expect_refused({{"__metadata__", {1}, &x}},
                 "cannot write a tensor with the name __metadata__: the format reserves it");
  expect_refused({{"x", {1}, nullptr}}, "cannot write tensor 'x': it has no data");
  expect_refused({{"x", {2, -1}, &x}}, "cannot write tensor 'x': the shape [2, -1] has a negative dimension");
  expect_refused(
      {{"x", {1, 1, 1, 1, 1, 1, 1, 1, 1}, &x}},
      "cannot write tensor 'x': the shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions; at most 8 are allowed");
  expect_refused({{"x", {int64_t{1} << 40, int64_t{1} << 40}, &x}},
                 "cannot write tensor 'x': the shape [1099511627776, 1099511627776] is too large for any memory");
  expect_refused({{"\xff", {1}, &x}}, "cannot write tensors: a name or a text of the metadata is not valid UTF-8");
  expect_error(
      [] {
        file::safetensors_bytes({}, {{"a", "\xff"}});
      },
      "cannot write tensors: a name or a text of the metadata is not valid UTF-8");
  // NOLINTNEXTLINE(bugprone-string-constructor): too long on purpose.
  expect_refused({{std::string(100'000'000, 'n'), {1}, &x}},
                 "cannot write tensors: the header would have 100000056 bytes; at most 100000000 are allowed");
}

TEST(Safetensors, MissingTensorSaysTheNearest) {
  const std::vector<float> a(6);
  const std::vector<TensorToWrite> tensors = {{"encoder.weight", {2, 3}, a.data()}, {"encoder.bias", {2}, a.data()}};
  const Safetensors file(file::safetensors_bytes(tensors), "f");
  EXPECT_EQ(file.find("x"), nullptr);
  expect_error([&] { file.values("encoder.bais"); },
               "'f': there is no tensor 'encoder.bais'; did you mean 'encoder.bias'?");
  std::vector<float> small(5);
  expect_error([&] { file.copy(file.at("encoder.weight"), small); },
               "'f': tensor 'encoder.weight' has shape [2, 3]; there is room for 5 numbers");
  const Safetensors none(file::safetensors_bytes({}), "f");
  expect_error([&] { none.at("x"); }, "'f': there is no tensor 'x'; the file has no tensors");
}

TEST(Safetensors, WhatIsNoFile) {
  const TemporaryFolder folder;
  expect_error([&] { Safetensors::read(folder / "no"); },
               fmt::format("cannot open '{}': No such file or directory", (folder / "no").string()));
  expect_error([&] { Safetensors::read(folder.path()); },
               fmt::format("cannot read '{}': it is a folder, not an ordinary file", folder.path().string()));
  expect_error([&] { Safetensors::read("/dev/null"); },
               "cannot read '/dev/null': it is a device or a pipe, not an ordinary file");
}

TEST(Weights, ParametersGoAndComeBack) {
  Parameters from(1), to(2);
  for (Parameters* all : {&from, &to}) {
    all->make("a", {3, 4}, Initialiser::normal(1.0f));
    all->make("b", {5}, Initialiser::normal(1.0f));
  }
  from.at("b").trainable = false;
  ASSERT_NE(from.at("a").value, to.at("a").value);
  file::load(Safetensors(file::safetensors_bytes(file::tensors_of(from)), "f"), to);
  EXPECT_EQ(from.at("a").value, to.at("a").value);
  EXPECT_EQ(from.at("b").value, to.at("b").value);
}

TEST(Weights, EveryDifferenceIsNamed) {
  Parameters from(1), to(2);
  from.make("same", {2}, Initialiser::constant(1.0f));
  from.make("turned", {3, 4}, Initialiser::constant(1.0f));
  from.make("extra", {5}, Initialiser::constant(1.0f));
  to.make("same", {2}, Initialiser::constant(2.0f));
  to.make("turned", {4, 3}, Initialiser::constant(2.0f));
  to.make("more", {6}, Initialiser::constant(2.0f));
  expect_error([&] { file::load(Safetensors(file::safetensors_bytes(file::tensors_of(from)), "f"), to); },
               "'f' does not fit the model:\n"
               "  'turned' must be [4, 3], not [3, 4]\n"
               "  'more' [6] is missing\n"
               "  'extra' [5] is not in the model");
  EXPECT_EQ(to.at("same").value, std::vector<float>(2, 2.0f)) << "a file that does not fit must change nothing";
}

TEST(Weights, EmptyParametersGetTheirMemoryWhenTheyFit) {
  Parameters from(1), to(2, Start::empty), wide(3, Start::empty);
  for (Parameters* all : {&from, &to}) all->make("w", {2, 3}, Initialiser::normal(1.0f));
  const Safetensors file(file::safetensors_bytes(file::tensors_of(from)), "f");
  file::load(file, to);
  EXPECT_EQ(from.at("w").value, to.at("w").value);
  wide.make("w", {int64_t{1} << 30, int64_t{1} << 20}, Initialiser::normal(1.0f));  // more than any machine has
  expect_error([&] { file::load(file, wide); },
               "'f' does not fit the model:\n  'w' must be [1073741824, 1048576], not [2, 3]");
  EXPECT_TRUE(wide.at("w").value.empty());
}

TEST(Weights, AThousandDifferencesAreCounted) {
  Parameters from(1), none(2);
  for (int i = 0; i < 1000; ++i) from.make("w" + std::to_string(i), {1}, Initialiser::constant(1.0f));
  try {
    file::load(Safetensors(file::safetensors_bytes(file::tensors_of(from)), "f"), none);
    FAIL();
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 21);
    EXPECT_TRUE(said.ends_with("\n  and 980 more")) << said;
  }
}

TEST(Weights, ToAFileAndBack) {
  const TemporaryFolder folder;
  Parameters written(1), read(2), other(1);
  const Parameter& a = written.make("a", {2, 3}, Initialiser::normal(1.0f));
  file::save(folder / "weights.safetensors", written);
  Parameter& b = read.make("a", {2, 3}, Initialiser::normal(1.0f));
  EXPECT_NE(std::vector<float>(a.value.begin(), a.value.end()), std::vector<float>(b.value.begin(), b.value.end()));
  file::load(folder / "weights.safetensors", read);
  EXPECT_EQ(std::vector<float>(a.value.begin(), a.value.end()), std::vector<float>(b.value.begin(), b.value.end()));

  other.make("a", {3, 2}, Initialiser::normal(1.0f));
  EXPECT_THROW(file::load(folder / "weights.safetensors", other), Error);
  EXPECT_THROW(file::load(folder / "nowhere.safetensors", read), Error);
}

}  // namespace
}  // namespace heed::test
