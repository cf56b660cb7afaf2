// User-defined biases, and the list of all biases.
#include <algorithm>

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/loop/custom_tile.h"

namespace heed::kernels {
namespace {

class UserBias final : public BiasKernel {
 public:
  UserBias(const CustomBias& custom, float* d_parameters) : custom_(custom), d_parameters_(d_parameters) {}

  void add(const Tile& t, const Sequence&) const override { custom_.add(custom_.self, custom_tile(t)); }

  bool is_custom() const override { return true; }

  size_t gradient_floats() const override {
    return d_parameters_ && custom_.backward ? static_cast<size_t>(custom_.parameters) : 0;
  }
  void backward(const Tile& t, const Sequence&, float* sums) const override {
    if (gradient_floats() > 0) custom_.backward(custom_.self, custom_tile(t), sums);
  }
  void zero_gradients() const override {
    if (d_parameters_) std::fill_n(d_parameters_, custom_.parameters, 0.0f);
  }
  void add_gradients(const float* sums, int64_t) const override {
    for (size_t i = 0; i < gradient_floats(); ++i) d_parameters_[i] += sums[i];
  }

 private:
  const CustomBias& custom_;
  float* d_parameters_;
};

}  // namespace

ArenaPtr<BiasKernel> make_custom_bias(const Problem& p, float* d_parameters, CallArena& arena) {
  return arena.make<UserBias>(*p.bias.custom, d_parameters);
}

bool has_bias(const Bias& b) { return b.tensor || b.alibi_slopes || b.relative || b.custom; }

std::pmr::vector<ArenaPtr<BiasKernel>> make_biases(const Problem& p, const Gradients* grad, CallArena& arena) {
  std::pmr::vector<ArenaPtr<BiasKernel>> biases(&arena);
  biases.reserve(4);
  if (p.bias.tensor) biases.push_back(make_tensor_bias(p, grad ? grad->d_bias_tensor : nullptr, arena));
  if (p.bias.alibi_slopes) biases.push_back(make_alibi(p, grad ? grad->d_alibi_slopes : nullptr, arena));
  if (p.bias.relative) biases.push_back(make_relative(p, grad ? grad->d_relative : nullptr, arena));
  if (p.bias.custom) biases.push_back(make_custom_bias(p, grad ? grad->d_custom_bias : nullptr, arena));
  return biases;
}

}  // namespace heed::kernels
