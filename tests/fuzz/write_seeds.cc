// write-seeds FOLDER: the files that the fuzzer starts from.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/broken_safetensors.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write-seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  const auto write = [&](const std::string& bytes) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << bytes;
  };
  for (const auto& bytes : heed::test::good_safetensors()) write(bytes);
  for (const auto& file : heed::test::broken_safetensors()) write(file.bytes);
}
