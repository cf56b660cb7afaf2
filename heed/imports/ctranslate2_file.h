// model.bin of CTranslate2, binary versions 2 to 6.
//
//   u32 version, text spec, u32 revision, u32 n, n tensors; from version 3 on u32 aliases, pairs of texts
//   tensor: text name, u8 rank, u32 for each dimension, then to version 3: u8 bytes of a number, u32 numbers;
//           from version 4 on: u8 type, u32 bytes; the numbers
//   text: u16 length with its NUL, the bytes
//
// Types: 0 float32, 1 int8, 2 int16, 3 int32, 4 float16, 5 bfloat16. An int8 or int16 tensor with another NAME_scale
// stands for NAME / NAME_scale, a scale for all or for each row.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heed/imports/tensors.h"

namespace heed::imports {

struct CTranslate2File {
  uint32_t version = 0, revision = 0;
  std::string spec;  // "TransformerSpec"
  ForeignTensors tensors;
};

/// Throws for whatever breaks a rule of the format.
CTranslate2File parse_ctranslate2(std::shared_ptr<const std::vector<std::byte>> bytes, const std::string& file);

}  // namespace heed::imports
