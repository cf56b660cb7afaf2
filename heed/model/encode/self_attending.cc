#include "heed/model/encode/self_attending.h"

#include <utility>

#include "heed/layer/linear.h"
#include "heed/model/encode/attention_options.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

namespace {

class SelfAttendingEncoder final : public Encoder {
 public:
  SelfAttendingEncoder(const Scope& scope, const StackOptions& o, std::unique_ptr<Encoder> encoder)
      : encoder_(std::move(encoder)),
        self_(make_attention(scope / "self", o.places, kEncoderPlace, 0, states_attention(o, encoder_->width()))),
        combine_(scope / "combine", self_->context_width() + encoder_->width(), encoder_->width()),
        dropout_(o.dropout) {}

  Encoded run(const Packed& x) const override {
    Encoded encoded = encoder_->run(x);
    const Tensor states = encoded.memory.rows;
    const Packed rows{states, x.offsets};
    const Tensor found = self_->attend({rows}, self_->prepare({rows})).context;
    encoded.memory = {dropout(tanh(combine_(concat_columns({found, states}))), dropout_), x.offsets};
    if (!encoded.blocks.empty()) encoded.blocks.back() = encoded.memory.rows;
    return encoded;
  }
  int64_t width() const override { return encoder_->width(); }
  int64_t blocks() const override { return encoder_->blocks(); }

 private:
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<attend::Mechanism> self_;
  Linear combine_;
  float dropout_;
};

}  // namespace

std::unique_ptr<Encoder> self_attending(const Scope& scope, const StackOptions& options,
                                        std::unique_ptr<Encoder> encoder) {
  if (!is_chosen(options.places, kEncoderPlace)) return encoder;
  return std::make_unique<SelfAttendingEncoder>(scope, options, std::move(encoder));
}

}  // namespace heed::encode
