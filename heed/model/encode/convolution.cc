// Layers that look at each row and its neighbours: x + dropout(f(W [x_(i-r) .. x_(i+r)] + b)).  Kim 2014, Gehring et
// al. 2017
#include "heed/model/encode/convolution.h"
#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/layer/linear.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/choices.h"
#include "heed/model/encode/self_attending.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/windows.h"

namespace heed::encode {

namespace {

/// Parameters of layer l: "l.weight" [width, kernel * width], "l.bias" [width].
class ConvolutionEncoder final : public Encoder {
 public:
  ConvolutionEncoder(const Scope& scope, const StackOptions& o)
      : width_(o.width),
        kernel_(o.own.of<ConvolutionKeys>().kernel),
        dropout_(o.dropout),
        activation_(value_of(kActivations, o.activation, "convolution: activation").activation),
        hands_over_(o.hands_over_blocks()) {
    for (int64_t l = 0; l < o.layers; ++l) layers_.emplace_back(scope / std::to_string(l), kernel_ * o.width, o.width);
  }

  Encoded run(const Packed& x) const override {
    Tensor rows = x.rows;
    Encoded encoded;
    for (const Linear& layer : layers_) {
      rows = rows.tape().only_result([&] {
        return add(rows, dropout(activate(layer(windows({rows, x.offsets}, kernel_)), activation_), dropout_));
      });
      if (hands_over_) encoded.blocks.push_back(rows);
    }
    encoded.memory = {rows, x.offsets};
    return encoded;
  }
  int64_t width() const override { return width_; }
  int64_t blocks() const override { return hands_over_ ? std::ssize(layers_) : 0; }

 private:
  int64_t width_, kernel_;
  float dropout_;
  Activation activation_;
  bool hands_over_;
  std::vector<Linear> layers_;
};

}  // namespace

const EncoderEntry convolution_encoder = {
    .name = "convolution",
    .meaning = "layers that look at each row and its neighbours",
    .keys = "kernel activation",
    .add_keys =
        [](file::Fields& fields, OwnOptions& options) {
          fields.add("model.kernel", options.of<ConvolutionKeys>().kernel,
                     "convolution: tokens that a layer sees at once", file::Limit::between(1, 1000));
        },
    .make = [](const Scope& scope, const StackOptions& o) -> std::unique_ptr<Encoder> {
      const int64_t kernel = o.own.of<ConvolutionKeys>().kernel;
      expect(o.width > 0 && o.layers > 0 && kernel > 0,
             "convolution: width {}, layers {} and kernel {} must be above 0", o.width, o.layers, kernel);
      return self_attending(scope, o, std::make_unique<ConvolutionEncoder>(scope, o));
    },
};

}  // namespace heed::encode
