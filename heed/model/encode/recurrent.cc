#include "heed/base/fields.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/recurrent_keys.h"
#include "heed/model/encode/self_attending.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

namespace {
class RecurrentEncoder final : public Encoder {
 public:
  RecurrentEncoder(const Scope& scope, const RecurrentOptions& options, bool hands_over_blocks)
      : recurrent_(scope, options), blocks_(hands_over_blocks ? options.layers : 0) {}

  Encoded run(const Packed& x) const override {
    const RecurrentOutput out = recurrent_.run(x);
    const float rate = recurrent_.options().dropout;
    Encoded encoded{{dropout(out.rows, rate), x.offsets}, out.states};
    if (blocks_ == 0) return encoded;
    for (const Tensor layer : out.layers.first(out.layers.size() - 1)) encoded.blocks.push_back(dropout(layer, rate));
    encoded.blocks.push_back(encoded.memory.rows);
    return encoded;
  }
  int64_t width() const override { return recurrent_.options().width(); }
  int64_t blocks() const override { return blocks_; }

 private:
  Recurrent recurrent_;
  int64_t blocks_;
};
}  // namespace

std::unique_ptr<Encoder> recurrent(const Scope& scope, const RecurrentOptions& options, bool hands_over_blocks) {
  return std::make_unique<RecurrentEncoder>(scope, options, hands_over_blocks);
}

const EncoderEntry recurrent_encoder = {
    .name = "rnn",
    .meaning = "a GRU or LSTM that reads in both directions, or in one",
    .keys = "cell bidirectional encoder_hidden",
    .add_keys =
        [](file::Fields& fields, OwnOptions& options) {
          fields.add("model.encoder_hidden", options.of<RecurrentEncoderKeys>().encoder_hidden,
                     "rnn: width of the encoder's states in each direction; 0: model.width",
                     file::Limit::between(0, 65536));
        },
    .make =
        [](const Scope& scope, const StackOptions& o) {
          RecurrentOptions r = o.recurrent(o.bidirectional);
          if (const int64_t hidden = o.own.of<RecurrentEncoderKeys>().encoder_hidden; hidden > 0) r.hidden = hidden;
          return self_attending(scope, o, recurrent(scope, r, o.hands_over_blocks()));
        },
};

}  // namespace heed::encode
