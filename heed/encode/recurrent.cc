#include "heed/encode/all.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

namespace {
class RecurrentEncoder final : public Encoder {
 public:
  RecurrentEncoder(const Scope& scope, const RecurrentOptions& options) : recurrent_(scope, options) {}

  Encoded run(const Packed& x) const override {
    const RecurrentOutput out = recurrent_.run(x);
    return {{dropout(out.rows, recurrent_.options().dropout), x.offsets}, out.states};
  }
  int64_t width() const override { return recurrent_.options().width(); }

 private:
  Recurrent recurrent_;
};
}  // namespace

std::unique_ptr<Encoder> recurrent(const Scope& scope, const RecurrentOptions& options) {
  return std::make_unique<RecurrentEncoder>(scope, options);
}

const EncoderEntry recurrent_encoder = {
    .name = "rnn",
    .meaning = "a GRU or LSTM that reads in both directions, or in one",
    .make = [](const Scope& scope, const StackOptions& o) { return recurrent(scope, o.recurrent(o.bidirectional)); },
};

}  // namespace heed::encode
