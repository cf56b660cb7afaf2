// A GRU or LSTM whose states may look back at those before them.
//   key_value   h*_t, made of what it found and of its own value: attend/structure/key_value.cc.   Daniluk et al. 2017
//   others      out_t = tanh(W [c_t; h_t]), where c_t is what it found (0 for the first).   Paulus et al. 2018
#include <algorithm>
#include <limits>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/layer/linear.h"
#include "heed/model/decode/text_decoder.h"
#include "heed/model/encode/attention_options.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::decode {

namespace {

class TextRecurrent final : public TextDecoder {
 public:
  TextRecurrent(const Scope& scope, const TextDecoderOptions& o)
      : dropout_(o.stack.dropout), recurrent_(scope / "recurrent", o.stack.recurrent(false)) {
    if (!o.looks_back) return;
    const attend::Options a =
        encode::past_attention(encode::chosen(o.stack.attention, o.stack.places, encode::kDecoderPlace, 0), hidden());
    const attend::Parts parts = attend::resolve(a);
    look_back_ = encode::make_attention(scope / "attention", o.stack.places, encode::kDecoderPlace, 0, a);
    own_output_ = parts.structure == &attend::key_value_entry;
    const bool window = own_output_ || parts.has_region(attend::sliding_window_entry);
    if (window) reach_ = a.window;
    learned_reach_ = std::min(reach_, o.context);
    if (!own_output_) combine_ = Linear(scope / "combine", look_back_->context_width() + hidden(), hidden());
  }

  Tensor run(const Packed& x, const Pieces& pieces) const override {
    const RecurrentOutput s = recurrent_.run(x, first_states(x, pieces.before));
    if (pieces.after) {
      pieces.after->assign(static_cast<size_t>(x.offsets.count), {});
      keep_states(s.states, *pieces.after);
    }
    if (!look_back_) return dropout(s.rows, dropout_);
    return combined(look_back({s.rows, x.offsets}, pieces), s.rows);
  }

  std::unique_ptr<State> start(Tape& tape, int64_t sequences, int64_t longest) const override {
    auto state = std::make_unique<State>(sequences, longest);
    for (const RecurrentState& layer : recurrent_.zero_states(tape, sequences)) {
      state->add_matrix(layer.h);
      state->add_matrix(layer.c);
    }
    if (look_back_) state->add_self_attention(*look_back_);
    return state;
  }

  Tensor step(Tensor x, State& state) const override {
    const auto layers = static_cast<size_t>(recurrent_.options().layers);
    std::vector<RecurrentState> states(layers);
    for (size_t l = 0; l < layers; ++l)
      states[l] = {state.matrix(2 * l).on(x.tape()), state.matrix(2 * l + 1).on(x.tape())};
    const RecurrentOutput s = recurrent_.step(x, states);
    for (size_t l = 0; l < layers; ++l) {
      state.matrix(2 * l).take(s.states[l].h);
      state.matrix(2 * l + 1).take(s.states[l].c);
    }
    const Tensor out = look_back_ ? combined(state.attend_to_self(0, s.rows), s.rows) : s.rows;
    state.advance();
    return out;
  }

  int64_t width() const override { return own_output_ ? look_back_->context_width() : hidden(); }
  bool carries() const override { return true; }

 private:
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  static bool has_states(const data::CarriedState* carried) { return carried && !carried->states.empty(); }
  int64_t hidden() const { return recurrent_.options().hidden; }
  int64_t numbers_of_states() const {
    const RecurrentOptions& o = recurrent_.options();
    return o.layers * o.hidden * (o.kind == RecurrentOptions::Kind::lstm ? 2 : 1);
  }

  Tensor combined(Tensor context, Tensor s) const {
    return dropout(own_output_ ? context : tanh(combine_(concat_columns({context, s}))), dropout_);
  }

  // ------------------------------------------------------------------------------------- what pieces begin with

  RecurrentStates first_states(const Packed& x, std::span<const data::CarriedState* const> before) const {
    if (std::none_of(before.begin(), before.end(), has_states)) return {};
    const RecurrentStates zero = recurrent_.zero_states(x.rows.tape(), x.offsets.count);
    for (size_t p = 0; p < before.size(); ++p) {
      if (!has_states(before[p])) continue;
      const auto& [numbers, rows] = *before[p];
      expect(std::ssize(numbers) == numbers_of_states(), "text: a state of {} numbers was carried, not {}",
             numbers.size(), numbers_of_states());
      expect(std::ssize(rows) % hidden() == 0, "text: {} numbers were carried to look back at, not rows of {}",
             rows.size(), hidden());
      const float* from = numbers.data();
      for (const RecurrentState& layer : zero)
        for (const Tensor& part : {layer.h, layer.c}) {
          if (!part) continue;
          std::copy_n(from, part.cols(), part.data() + static_cast<int64_t>(p) * part.cols());
          from += part.cols();
        }
    }
    return zero;
  }

  void keep_states(const RecurrentStates& states, std::vector<data::CarriedState>& after) const {
    for (size_t p = 0; p < after.size(); ++p)
      for (const RecurrentState& layer : states)
        for (const Tensor& part : {layer.h, layer.c})
          if (part) {
            const float* row = part.row(static_cast<int64_t>(p));
            after[p].states.insert(after[p].states.end(), row, row + part.cols());
          }
  }

  // ------------------------------------------------------------------------------------------------ looking back

  /// [tokens, hidden] -> [tokens, context width]. States kept from the piece before stand in front of those of their
  /// piece, so that all find their past by the same rule; what the kept ones would find is not used.
  Tensor look_back(const Packed& s, const Pieces& pieces) const {
    Tape& tape = s.rows.tape();
    const Offsets& o = s.offsets;
    std::vector<int64_t> kept(static_cast<size_t>(o.count), 0);
    int64_t all_kept = 0;
    for (size_t p = 0; p < pieces.before.size(); ++p)
      if (has_states(pieces.before[p])) all_kept += kept[p] = std::ssize(pieces.before[p]->rows) / hidden();
    Packed rows = s;
    std::vector<int64_t> own;  // of `rows`: those of this piece
    if (all_kept > 0) {
      const Tensor earlier = tape.filled(all_kept, hidden(), 0.0f);
      std::vector<int64_t> order, offsets = {0};
      float* to = earlier.data();
      for (int64_t p = 0, next = 0; p < o.count; ++p) {
        const auto at = static_cast<size_t>(p);
        if (kept[at] > 0) to = std::copy_n(pieces.before[at]->rows.data(), kept[at] * hidden(), to);
        for (int64_t i = 0; i < kept[at]; ++i) order.push_back(next++);
        for (int64_t i = o.at[p]; i < o.at[p + 1]; ++i) {
          own.push_back(std::ssize(order));
          order.push_back(all_kept + i);
        }
        offsets.push_back(std::ssize(order));
      }
      rows = {gather_rows(concat_rows({earlier, s.rows}), order), tape.offsets(offsets)};
    }
    if (pieces.after) keep_rows(rows, *pieces.after, pieces.carries_all ? reach_ : learned_reach_);
    const attend::PreparedMemory memory = look_back_->prepare({rows});
    // Where equally many are kept for all, those of the pieces ask alone: what is kept may be a long text.
    if (all_kept > 0 && std::all_of(kept.begin(), kept.end(), [&](int64_t each) { return each == kept[0]; }) &&
        pieces.carries_all)
      return look_back_->attend({s}, memory, attend::State(kept[0])).context;
    const Tensor found = look_back_->attend({rows}, memory).context;
    return all_kept > 0 ? gather_rows(found, own) : found;
  }

  void keep_rows(const Packed& rows, std::vector<data::CarriedState>& after, int64_t reach) const {
    for (size_t p = 0; p < after.size(); ++p) {
      const int64_t end = rows.offsets.at[p + 1], length = end - rows.offsets.at[p];
      const int64_t begin = end - std::min(length, reach);
      after[p].rows.assign(rows.rows.data() + begin * hidden(), rows.rows.data() + end * hidden());
    }
  }

  float dropout_;
  Recurrent recurrent_;
  std::unique_ptr<attend::Mechanism> look_back_;  // null: it does not
  bool own_output_ = false;                       // of look_back_: it combines context and state itself
  int64_t reach_ = kAll;                          // rows that it looks back ...
  int64_t learned_reach_ = 0;                     // ... and those of them that are carried in training
  Linear combine_;
};

}  // namespace

const TextDecoderEntry recurrent_text_decoder = {
    .name = "rnn",
    .meaning = "a GRU or LSTM whose states may look back at those before them",
    .layers = "decoder.recurrent",
    .keys = "cell look_back",
    .make = [](const Scope& scope, const TextDecoderOptions& o) -> std::unique_ptr<TextDecoder> {
      return std::make_unique<TextRecurrent>(scope, o);
    },
};

}  // namespace heed::decode
