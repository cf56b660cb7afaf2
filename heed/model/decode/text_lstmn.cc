// Layers of an LSTM whose steps go on from earlier states by attention: the language model of Cheng et al. 2016.
#include <memory>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/model/decode/text_decoder.h"
#include "heed/model/encode/lstmn.h"
#include "heed/tensor/op/dropout.h"

namespace heed::decode {

namespace {

class TextLstmn final : public TextDecoder {
 public:
  TextLstmn(const Scope& scope, const TextDecoderOptions& o) : width_(o.stack.width), dropout_(o.stack.dropout) {
    const attend::Options& a = o.stack.attention;
    const attend::Options plain;
    expect(
        a.score == plain.score && a.region == plain.region && a.time == plain.time && a.normalise == plain.normalise &&
            a.structure == plain.structure && a.position == plain.position,
        "model: kind = \"lstmn\" has an attention of its own, additive over all earlier states of a window: leave out "
        "[attention], or use kind = \"rnn\", whose states look back as it says");
    for (int64_t l = 0; l < o.stack.layers; ++l)
      layers_.push_back(
          std::make_unique<encode::LstmnReader>(scope / std::to_string(l) / "forward", width_, width_, false));
  }

  Tensor run(const Packed& x, const Pieces&) const override {
    Tensor rows = x.rows;
    for (const auto& layer : layers_) rows = dropout((*layer)({rows, x.offsets}).rows, dropout_);
    return rows;
  }

  std::unique_ptr<State> start(Tape&, int64_t sequences, int64_t longest) const override {
    auto state = std::make_unique<State>(sequences, longest);
    for (size_t n = 0; n < 2 * layers_.size(); ++n) state->add_matrix(Tensor());  // nothing has been read
    return state;
  }

  Tensor step(Tensor x, State& state) const override {
    for (size_t l = 0; l < layers_.size(); ++l) {
      encode::LstmnReader::Past past{state.matrix(2 * l).on(x.tape()), state.matrix(2 * l + 1).on(x.tape())};
      x = layers_[l]->step(x, past);
      state.matrix(2 * l).take(past.states);
      state.matrix(2 * l + 1).take(past.mean_h);
    }
    state.advance();
    return x;
  }

  int64_t width() const override { return width_; }

 private:
  int64_t width_;
  float dropout_;
  std::vector<std::unique_ptr<encode::LstmnReader>> layers_;
};

}  // namespace

const TextDecoderEntry lstmn_text_decoder = {
    .name = "lstmn",
    .meaning = "an LSTM whose steps go on from earlier states of a window by attention",
    .reads_windows = true,
    .make = [](const Scope& scope, const TextDecoderOptions& o) -> std::unique_ptr<TextDecoder> {
      return std::make_unique<TextLstmn>(scope, o);
    },
};

}  // namespace heed::decode
