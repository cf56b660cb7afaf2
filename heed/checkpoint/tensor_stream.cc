#include "heed/checkpoint/tensor_stream.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed::file {

TensorStream::TensorStream(InputFile& input, std::string name, Seen seen)
    : name_(std::move(name)), input_(&input), seen_(std::move(seen)) {
  std::array<std::byte, sizeof(uint64_t)> length{};
  const std::span front(length.data(), std::min<uint64_t>(length.size(), input.size()));
  read_bytes(front);
  const uint64_t size = safetensors_header_size(front, input.size(), name_);
  std::string json(size, '\0');
  read_bytes(std::as_writable_bytes(std::span(json)));
  left_ = input.size() - length.size() - size;
  header_ = parse_safetensors_header(json, left_, name_);
}

void TensorStream::read_bytes(std::span<std::byte> into) {
  input_->read(into);
  if (seen_ && !into.empty()) seen_(into);
}

void TensorStream::read(std::span<float> into) {
  constexpr size_t kAtOnce = 1 << 16;  // numbers that are converted
  expect(next_ < header_.tensors.size(), ErrorKind::bug, "'{}': all its tensors were read", name_);
  const StoredTensor& tensor = header_.tensors[next_++];
  expect_room(tensor, into.size(), name_);
  left_ -= tensor.end - tensor.begin;
  if (tensor.dtype == Dtype::f32) return read_bytes(std::as_writable_bytes(into));
  std::vector<float> scales(tensor.scale_count());
  read_bytes(std::as_writable_bytes(std::span(scales)));
  std::vector<std::byte> bytes(std::min(into.size(), kAtOnce) * bytes_of(tensor.dtype));
  for (size_t at = 0; at < into.size(); at += kAtOnce) {
    const size_t count = std::min(kAtOnce, into.size() - at);
    const std::span piece(bytes.data(), count * bytes_of(tensor.dtype));
    read_bytes(piece);
    read_tensor(tensor, piece, at, into.subspan(at, count), name_, scales);
  }
}

void TensorStream::skip_rest() {
  constexpr uint64_t kAtOnce = 1 << 20;
  std::vector<std::byte> bytes(std::min(left_, kAtOnce));
  for (; left_ > 0; left_ -= bytes.size()) {
    bytes.resize(std::min(left_, kAtOnce));
    read_bytes(bytes);
  }
  next_ = header_.tensors.size();
}

}  // namespace heed::file
