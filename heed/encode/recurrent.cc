#include "heed/encode/encoder.h"
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

}  // namespace heed::encode
