// WAV and NumPy's files as they stand in their formats, also such that no program would write.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heed::sound {

inline std::string little(uint64_t value, int bytes) {
  std::string all;
  for (int i = 0; i < bytes; ++i) all += static_cast<char>(value >> (8 * i) & 0xff);
  return all;
}

inline std::string chunk(const std::string& name, const std::string& content) {
  return name + little(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}

struct WavForm {
  uint64_t tag = 1, channels = 1, rate = 8000, bits = 16;
  uint64_t block = 0;  // bytes of a moment; 0: as many as it has
  bool extensible = false;
  std::string before = {}, after = {};  // other chunks, around that of the samples
  uint64_t data_size = 0;               // that its header tells; 0: the right one
};

inline std::string wav(const WavForm& form, const std::vector<uint64_t>& samples) {
  std::string data;
  const int bytes = static_cast<int>((form.bits + 7) / 8);
  for (const uint64_t sample : samples) data += little(sample, bytes);
  const uint64_t block = form.block > 0 ? form.block : form.channels * static_cast<uint64_t>(bytes);
  std::string format = little(form.extensible ? 0xFFFE : form.tag, 2) + little(form.channels, 2) +
                       little(form.rate, 4) + little(form.rate * block, 4) + little(block, 2) + little(form.bits, 2);
  if (form.extensible)
    format += little(22, 2) + little(form.bits, 2) + little(0, 4) + little(form.tag, 2) + std::string(14, 'x');
  std::string all = "WAVE" + chunk("fmt ", format) + form.before + "data" +
                    little(form.data_size > 0 ? form.data_size : data.size(), 4) + data + form.after;
  return "RIFF" + little(all.size(), 4) + all;
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

inline std::string npy(const std::string& header, const std::string& numbers, int version) {
  return "\x93NUMPY" + little(static_cast<uint64_t>(version), 1) + little(0, 1) +
         little(header.size(), version == 1 ? 2 : 4) + header + numbers;
}

}  // namespace heed::sound
