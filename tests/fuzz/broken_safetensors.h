// Small safetensors files, each with one mistake, and the message that it must give. The tests read them one by one;
// the fuzzer starts from them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace heed::test {

struct BrokenFile {
  std::string bytes;
  std::string message;  // after the name of the file
};

inline std::string length_bytes(uint64_t length) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

/// A file with this header and this many bytes of data.
inline std::string safetensors_file(std::string_view header, size_t data) {
  return length_bytes(header.size()) + std::string(header) + std::string(data, '\x3f');
}

inline std::vector<std::string> good_safetensors() {
  return {
      safetensors_file("{}", 0),
      safetensors_file("{}      ", 0),
      safetensors_file(R"({"__metadata__":{"a":"b","c":""}})", 0),
      safetensors_file(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4),
      safetensors_file(R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0),
      safetensors_file(R"({"x":{"data_offsets":[0,24],"shape":[2,3],"dtype":"F32"}})", 24),
      safetensors_file(R"({"":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4),
      // Not in the order of the data, with empty tensors between.
      safetensors_file(R"({"__metadata__":{},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},)"
                       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                       R"("\u00e9\n":{"dtype":"F32","shape":[7,0,3],"data_offsets":[4,4]},)"
                       R"("end":{"dtype":"F32","shape":[0],"data_offsets":[12,12]}})",
                       12),
      // Other types, side by side, at odd addresses.
      safetensors_file(R"({"h":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},)"
                       R"("b":{"dtype":"BF16","shape":[1,2],"data_offsets":[6,10]},)"
                       R"("d":{"dtype":"F64","shape":[2],"data_offsets":[10,26]},)"
                       R"("f":{"dtype":"F32","shape":[1],"data_offsets":[26,30]}})",
                       30),
  };
}

inline std::vector<BrokenFile> broken_safetensors() {
  std::vector<BrokenFile> all = {
      // ---- the length of the header
      {"", "it has 0 bytes, and a safetensors file has at least 8"},
      {std::string(7, '\0'), "it has 7 bytes, and a safetensors file has at least 8"},
      {std::string(8, '\0'), "the header must start with '{'; this is not a safetensors file"},
      {length_bytes(1) + "", "the header claims 1 bytes, but only 0 follow; is the file cut off?"},
      {length_bytes(3) + "{}", "the header claims 3 bytes, but only 2 follow; is the file cut off?"},
      {length_bytes(100'000'001) + "{}",
       "the header claims 100000001 bytes; at most 100000000 are allowed. This is not a safetensors file"},
      {length_bytes(UINT64_MAX) + "{}",
       "the header claims 18446744073709551615 bytes; at most 100000000 are allowed. This is not a safetensors file"},
      {length_bytes(UINT64_MAX - 7) + "{}",
       "the header claims 18446744073709551608 bytes; at most 100000000 are allowed. This is not a safetensors file"},
  };
  const auto header = [&](std::string_view text, size_t data, std::string message) {
    all.push_back({safetensors_file(text, data), std::move(message)});
  };
  const auto tensor = [&](std::string_view inside, size_t data, std::string message) {
    header(std::string(R"({"x":{)") + std::string(inside) + "}}", data, std::move(message));
  };
  // ---- JSON
  header("[]", 0, "the header must start with '{'; this is not a safetensors file");
  header(" {}", 0, "the header must start with '{'; this is not a safetensors file");
  header("\xEF\xBB\xBF{}", 0, "the header must start with '{'; this is not a safetensors file");
  header("{", 0, "the header is not valid JSON from byte 2");
  header("{}}", 0, "the header is not valid JSON from byte 3");
  header("{} {}", 0, "the header is not valid JSON from byte 4");
  header("{,}", 0, "the header is not valid JSON from byte 2");
  header("{\"\xff\":1}", 0, "the header is not valid JSON from byte 3");
  header("{\"\xc0\x80\":1}", 0, "the header is not valid JSON from byte 3");  // too long for what it says
  header(R"({"\ud800":1})", 0, "the header is not valid JSON from byte 9");   // half of a letter
  header(R"({"x":{"dtype":"F32",}})", 0, "the header is not valid JSON from byte 21");
  header(R"({"x":{"shape":[01]}})", 0, "the header is not valid JSON from byte 17");
  header(std::string_view("{}\0", 3), 0, "the header has a zero byte at 3");
  header(std::string_view("{\"\0\":1}", 7), 0, "the header has a zero byte at 3");
  // ---- what stands where
  header(R"({"x":1})", 0, "tensor 'x': it must be an object, not the number 1");
  header(R"({"x":[]})", 0, "tensor 'x': it must be an object, not a list");
  header(R"({"x":null})", 0, "tensor 'x': it must be an object, not null");
  header(R"({"x":true})", 0, "tensor 'x': it must be an object, not true");
  header(R"({"x":"F32"})", 0, "tensor 'x': it must be an object, not the text 'F32'");
  header(R"({"x\u001b[2J":1})", 0, "tensor 'x\\x1b[2J': it must be an object, not the number 1");
  header(R"({"__metadata__":1})", 0, "__metadata__ must be an object of texts, not the number 1");
  header(R"({"__metadata__":null})", 0, "__metadata__ must be an object of texts, not null");
  header(R"({"__metadata__":{"a":1}})", 0, "__metadata__: 'a' must be a text, not the number 1");
  header(R"({"__metadata__":{"a":{}}})", 0, "__metadata__: 'a' must be a text, not an object");
  header(R"({"__metadata__":{"a":"b","a":"b"}})", 0, "__metadata__: the name 'a' appears twice");
  header(R"({"__metadata__":{},"__metadata__":{}})", 0, "the name '__metadata__' appears twice");
  header(
      R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
      0, "the name 'x' appears twice");
  header(R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"\u0078":{}})", 0, "the name 'x' appears twice");
  // ---- the fields of a tensor
  tensor("", 0, "tensor 'x': 'dtype' is missing");
  tensor(R"("dtype":"F32","data_offsets":[0,0])", 0, "tensor 'x': 'shape' is missing");
  tensor(R"("dtype":"F32","shape":[0])", 0, "tensor 'x': 'data_offsets' is missing");
  tensor(R"("stride":1)", 0, "tensor 'x': unknown field 'stride'; the fields are dtype, shape and data_offsets");
  tensor(R"("dtype":"F32","dtype":"F32")", 0, "tensor 'x': 'dtype' appears twice");
  tensor(R"("shape":[1],"shape":[1])", 0, "tensor 'x': 'shape' appears twice");
  tensor(R"("data_offsets":[0,0],"data_offsets":[0,0])", 0, "tensor 'x': 'data_offsets' appears twice");
  tensor(R"("dtype":1)", 0, "tensor 'x': dtype must be a text, not the number 1");
  tensor(R"("dtype":["F32"])", 0, "tensor 'x': dtype must be a text, not a list");
  tensor(R"("dtype":{})", 0, "tensor 'x': dtype must be a text, not an object");
  tensor(R"("shape":1)", 0, "tensor 'x': shape must be a list of numbers, not the number 1");
  tensor(R"("shape":null)", 0, "tensor 'x': shape must be a list of numbers, not null");
  tensor(R"("shape":["1"])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the text '1'");
  tensor(R"("shape":[[1]])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not a list");
  tensor(R"("shape":[{}])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not an object");
  tensor(R"("shape":[-1])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the number -1");
  tensor(R"("shape":[-0])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the number -0");
  tensor(R"("shape":[1.0])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the number 1.0");
  tensor(R"("shape":[1e2])", 0, "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the number 1e2");
  tensor(R"("shape":[18446744073709551616])", 0,
         "tensor 'x': shape must hold whole numbers from 0 to 2^64 - 1, not the number 18446744073709551616");
  tensor(R"("shape":[1,1,1,1,1,1,1,1,1])", 0, "tensor 'x': shape must have at most 8 numbers");
  tensor(R"("data_offsets":[])", 0, "tensor 'x': data_offsets must be two numbers, not 0");
  tensor(R"("data_offsets":[0])", 0, "tensor 'x': data_offsets must be two numbers, not 1");
  tensor(R"("data_offsets":[0,0,0])", 0, "tensor 'x': data_offsets must have at most 2 numbers");
  tensor(R"("data_offsets":[0,-4])", 0,
         "tensor 'x': data_offsets must hold whole numbers from 0 to 2^64 - 1, not the number -4");
  // ---- the type
  const std::string supported = "only F64, F32, F16 and BF16 are supported";
  tensor(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])", 8, "tensor 'x' has type I64; " + supported);
  tensor(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])", 4, "tensor 'x' has type F8_E4M3; " + supported);
  tensor(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])", 4,
         "tensor 'x' has type F33; " + supported + ", and no such type is known");
  tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])", 4,
         "tensor 'x' has type f32; " + supported + ", and no such type is known");
  tensor(R"("dtype":"BF16","shape":[2],"data_offsets":[0,8])", 8,
         "tensor 'x' of shape [2] needs 4 bytes, but its data_offsets hold 8");
  tensor(R"("dtype":"F16","shape":[1],"data_offsets":[0,4])", 4,
         "tensor 'x' of shape [1] needs 2 bytes, but its data_offsets hold 4");
  tensor(R"("dtype":"F64","shape":[1],"data_offsets":[0,4])", 4,
         "tensor 'x' of shape [1] needs 8 bytes, but its data_offsets hold 4");
  // ---- sizes
  tensor(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0])", 0,
         "tensor 'x': the dimension 9223372036854775808 of its shape is too large");
  tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])", 0,
         "tensor 'x': the shape [4611686018427387904, 4] is too large for any memory");
  tensor(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296,0],"data_offsets":[0,0])", 0,
         "tensor 'x': the shape [4294967296, 4294967296, 4294967296, 0] is too large for any memory");
  tensor(R"("dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,0])", 0,
         "tensor 'x': the shape [2305843009213693952] is too large for any memory");
  tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4,
         "tensor 'x' of shape [2] needs 8 bytes, but its data_offsets hold 4");
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])", 8,
         "tensor 'x' of shape [1] needs 4 bytes, but its data_offsets hold 8");
  tensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,4])", 4,
         "tensor 'x' of shape [0] needs 0 bytes, but its data_offsets hold 4");
  // ---- places
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4,
         "tensor 'x': data_offsets end at 0, before they start at 4");
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 3,
         "tensor 'x' ends at byte 4 of the data, but there are 3; is the file cut off?");
  tensor(R"("dtype":"F32","shape":[1073741824],"data_offsets":[0,4294967296])", 4,
         "tensor 'x' ends at byte 4294967296 of the data, but there are 4; is the file cut off?");
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615])", 4,
         "tensor 'x' ends at byte 18446744073709551615 of the data, but there are 4; is the file cut off?");
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])", 8,
         "no tensor covers the bytes from 0 to 4, before tensor 'x'");
  tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 5, "1 bytes follow the last tensor");
  header("{}", 4, "4 bytes follow the last tensor");
  const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)";
  header(a + R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
         "tensor 'b' starts at byte 4, inside tensor 'a', which ends at 8");
  header(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
         "tensor 'b' starts at byte 0, inside tensor 'a', which ends at 8");
  header(a + R"("b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})", 8,
         "tensor 'b' starts at byte 4, inside tensor 'a', which ends at 8");
  header(a + R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})", 16,
         "no tensor covers the bytes from 8 to 12, before tensor 'b'");
  header(a + R"("b":{"dtype":"F32","shape":[0],"data_offsets":[12,12]}})", 12,
         "no tensor covers the bytes from 8 to 12, before tensor 'b'");
  return all;
}

}  // namespace heed::test
