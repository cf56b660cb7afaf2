#include "heed/tensor/packed_weight.h"

#include <cstring>
#include <vector>

#include "heed/tensor/parallel.h"

namespace heed {

PackedWeight::~PackedWeight() = default;

void PackedWeight::unpack(WeightOrder order, float* to) const {
  const bool out_in = order == WeightOrder::out_in;
  const int64_t rows = out_in ? out_ : in_, cols = out_in ? in_ : out_;
  for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) row(order, n, to + n * cols);
  });
}

bool PackedWeight::is_copy_of(const WeightView& weight) const {
  if (weight.in != in_ || weight.out != out_) return false;
  const auto count = static_cast<size_t>(in_ * out_);
  std::vector<float> numbers(count);
  unpack(weight.order, numbers.data());
  return count == 0 || std::memcmp(numbers.data(), weight.data, count * sizeof(float)) == 0;
}

}  // namespace heed
