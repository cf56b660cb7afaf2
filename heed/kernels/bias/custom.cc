// A user's own bias, and the list of all biases.
#include "heed/kernels/bias/bias.h"
#include "heed/kernels/loop/custom_tile.h"

namespace heed::kernels {
namespace {

class UserBias final : public BiasKernel {
 public:
  UserBias(const CustomBias& custom, float* d_parameters) : custom_(custom), d_parameters_(d_parameters) {}

  void add(const Tile& t, const Sequence&) const override { custom_.add(custom_.self, custom_tile(t)); }

  size_t parameter_floats() const override {
    return d_parameters_ && custom_.backward ? static_cast<size_t>(custom_.parameters) : 0;
  }
  void backward(const Tile& t, const Sequence&, float* d_parameters) const override {
    if (parameter_floats() > 0) custom_.backward(custom_.self, custom_tile(t), d_parameters);
  }
  void add_parameter_gradient(const float* d_parameters, int64_t) const override {
    for (size_t i = 0; i < parameter_floats(); ++i) d_parameters_[i] += d_parameters[i];
  }

 private:
  const CustomBias& custom_;
  float* d_parameters_;
};

}  // namespace

ArenaPtr<BiasKernel> make_custom_bias(const Problem& p, float* d_parameters, CallArena& arena) {
  return arena.make<UserBias>(*p.bias.custom, d_parameters);
}

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
