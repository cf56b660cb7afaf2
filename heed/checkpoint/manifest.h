// MANIFEST.json: the parts of a checkpoint, with the size and the SHA-256 of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::file {

struct CheckpointPart {
  std::string name;  // of the file: part_name.h
  uint64_t size = 0;
  std::string sha256;
};

std::string manifest_text(const std::vector<CheckpointPart>& parts);
std::vector<CheckpointPart> parse_manifest(std::string_view text);

}  // namespace heed::file
